// How long to wait before a request is sent again, and that the wait ends with an abort.
import { expect, test } from "bun:test";
import { describeShortWait, pause, retryDelay } from "../../src/agent/retry.ts";
import { AppError } from "../../src/util/error.ts";

const passing = (retryAfterMs?: number) => new AppError("overloaded", "busy", { retryable: true, retryAfterMs });

test.each<[string, AppError, attempt: number, max: number, random: number, expected: number | undefined]>([
  ["about a second at first, at least", passing(), 1, 3, 0, 750],
  ["about a second at first, at most", passing(), 1, 3, 1, 1250],
  ["doubling", passing(), 2, 3, 0.5, 2000],
  ["doubling again", passing(), 3, 3, 0.5, 4000],
  ["never longer than a minute", passing(), 12, 20, 0.5, 60_000],
  ["as long as asked for, or a little longer", passing(5000), 1, 3, 1, 5500],
  ["never shorter than asked for", passing(5000), 3, 3, 0, 5000],
  ["at once where that is asked for", passing(0), 1, 3, 0.9, 0],
  ["the second time no sooner than about a second, whatever is asked for", passing(0), 2, 3, 0, 750],
  ["longer each time, whatever is asked for", passing(0), 3, 3, 0.5, 2000],
  ["as long as asked for where that is longer", passing(5000), 2, 3, 0, 5000],
  ["a minute where more is asked for", passing(3_600_000), 1, 3, 0.5, 60_000],
  ["not after the last attempt", passing(), 4, 3, 0.5, undefined],
  ["not where none are allowed", passing(0), 1, 0, 0.5, undefined],
  ["not for what lasts", new AppError("auth", "no", { retryAfterMs: 0 }), 1, 3, 0.5, undefined],
])("%s", (_name, error, attempt, max, random, expected) => {
  expect(retryDelay(error, attempt, { provider: {}, maxRetries: max }, random)).toBe(expected);
});

test("a replay waits for nothing, and repeats no more than a run", () => {
  const policy = { provider: { isReplay: true }, maxRetries: 3 };
  const delays = [1, 2, 3, 4].map((attempt) => retryDelay(passing(4000), attempt, policy, 0.5));
  expect(delays).toEqual([0, 0, 0, undefined]);
});

test.each([
  [3_600_000, "The provider asked for 3600 s; waiting 60 s"],
  [60_000, undefined],
  [undefined, undefined],
])("a wish for %p ms is told where it is not fulfilled", (wish, expected) => {
  expect(describeShortWait(passing(wish), 60_000)).toBe(expected);
});

test("a pause ends with an abort, also one that came before it", async () => {
  const controller = new AbortController();
  const waiting = pause(3_600_000, controller.signal);
  controller.abort();
  await waiting;
  await pause(3_600_000, controller.signal);
});
