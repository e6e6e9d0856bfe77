import { expect, test } from "bun:test";
import { describeDuration } from "../../src/util/duration.ts";

test.each([
  [0, "0 ms"],
  [850.4, "850 ms"],
  [3210, "3.2 s"],
  [125_000, "2 min 5 s"],
  // Rounding up the seconds must not leave sixty of them.
  [119_700, "2 min 0 s"],
])("%p ms is %s", (ms, words) => {
  expect(describeDuration(ms)).toBe(words);
});
