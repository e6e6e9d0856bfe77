// Durations in words, and as people write them.
import { expect, test } from "bun:test";
import { describeDuration, parseDuration } from "../../src/util/duration.ts";

test.each([
  [0, "0 ms"],
  [850.4, "850 ms"],
  [3210, "3.2 s"],
  [125_000, "2 min 5 s"],
  // Rounding up the seconds must not leave sixty of them.
  [119_700, "2 min 0 s"],
  [59_970, "1 min 0 s"],
  [59_949, "59.9 s"],
  [999.7, "1.0 s"],
])("%p ms is %s", (ms, words) => {
  expect(describeDuration(ms)).toBe(words);
});

test.each<[string, number | undefined]>([
  ["90", 90_000],
  ["0.5", 500],
  ["90s", 90_000],
  ["1.5s", 1500],
  ["500ms", 500],
  ["10m", 600_000],
  ["1h", 3_600_000],
  ["1h30m", 5_400_000],
  ["0", undefined],
  ["0s", undefined],
  ["", undefined],
  ["-5", undefined],
  ["10 m", undefined],
  ["10min", undefined],
  ["1d", undefined],
  ["h", undefined],
  ["1e3", undefined],
  ["Infinity", undefined],
])("%p is %p ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms as number);
});
