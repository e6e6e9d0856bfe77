import { expect, test } from "bun:test";
import { windowFrom } from "../../src/util/line-window.ts";

test.each([
  ["the beginning", "abcdef", 0, 3, "abc"],
  ["the middle", "abcdef", 2, 3, "cde"],
  ["the end", "abcdef", 4, 3, "ef"],
  ["what is beyond the end", "abc", 3, 3, ""],
  ["a pair of surrogates that its end would split", "a😀b", 0, 2, "a"],
  ["a pair that its beginning would split", "a😀b", 2, 2, "😀"],
  ["a pair for which there is no room", "😀b", 0, 1, "😀"],
])("a window from an offset: %s", (_, line, from, limit, text) => {
  const window = windowFrom(line, from, limit);
  expect(window.text).toBe(text);
  expect(line.slice(window.from, window.to)).toBe(text);
});
