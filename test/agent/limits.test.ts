// The limits of one prompt, without a run around them.
import { expect, test } from "bun:test";
import { createLimits } from "../../src/agent/limits.ts";
import { emptyUsage } from "../../src/protocol/usage.ts";

const counted = { ...emptyUsage(), totalTokens: 10 };

test("turns: the one that reaches the limit is the last, and another message begins anew", () => {
  const limits = createLimits({ maxTurns: 2 });
  limits.answered(counted);
  expect(limits.reached()).toBeUndefined();
  limits.answered(counted);
  expect(limits.reached()).toMatchObject({ code: "turn_limit", message: expect.stringContaining("2 turns") });
  limits.restart();
  expect(limits.reached()).toBeUndefined();
});

test("tool calls: only the one beyond the limit ends the run", () => {
  const limits = createLimits({ maxTurns: 9, maxToolCalls: 1 });
  expect([limits.takeCall(), limits.reached()]).toEqual([true, undefined]);
  expect(limits.takeCall()).toBe(false);
  expect(limits.reached()).toMatchObject({ code: "tool_call_limit" });
});

test("cost: what was spent before does not count", () => {
  let spent = 5;
  const limits = createLimits({ maxTurns: 9, maxCost: 1, spent: () => spent });
  limits.answered(counted);
  spent = 5.99;
  expect(limits.cost()).toBeUndefined();
  spent = 6;
  expect(limits.cost()).toMatchObject({ code: "cost_limit", message: expect.stringContaining("$1.00") });
  limits.restart();
  expect(limits.reached()).toBeUndefined();
});

test("cost: small amounts are told with digits that say something", () => {
  let spent = 0;
  const limits = createLimits({ maxTurns: 9, maxCost: 0.001, spent: () => spent });
  spent = 0.00234;
  expect(limits.cost()?.message).toBe("Stopped after $0.0023: the cost limit of $0.001 is reached");
});

test("cost: an answer whose tokens nobody counted ends the run, where there is such a limit", () => {
  const limits = createLimits({ maxTurns: 9, maxCost: 1, spent: () => 0 });
  limits.answered(emptyUsage());
  expect(limits.reached()).toMatchObject({ code: "cost_limit", message: expect.stringContaining("does not tell") });
  const without = createLimits({ maxTurns: 9 });
  without.answered(emptyUsage());
  expect(without.reached()).toBeUndefined();
});
