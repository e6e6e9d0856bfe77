// Numbers in words: sums of money, and nouns with a count.
import { expect, test } from "bun:test";
import { counted } from "../../src/export/numbers.ts";
import { dollars } from "../../src/util/numbers.ts";
import { plural } from "../../src/util/plural.ts";

test.each([
  [0, undefined],
  [Number.NaN, undefined],
  [0.00001234, "$0.000012"],
  [0.0123, "$0.0123"],
  [0.5, "$0.5000"],
  [12.345, "$12.35"],
])("%d dollars are %s", (amount, text) => {
  expect(dollars(amount)).toBe(text);
});

test.each([
  [1, "branch", "1 branch"],
  [0, "file", "0 files"],
  [1200, "older branch", "1200 older branches"],
])("%d of %s is '%s'", (count, noun, text) => {
  expect(plural(count, noun)).toBe(text);
  expect(counted(count, noun)).toBe(text.replace("1200", "1,200"));
});
