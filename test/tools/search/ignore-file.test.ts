import { expect, test } from "bun:test";
import { parseIgnoreFile } from "../../../src/tools/search/ignore-file.ts";

const fits = (line: string, name: string) => parseIgnoreFile(line).map((rule) => rule.fits(name));

test.each([
  ["a  ", "a"],
  ["a\\ ", "a "],
  ["a\\   ", "a "],
  ["a\\\\  ", "a\\"],
  [" a b ", " a b"],
  ["a\\ b  ", "a b"],
])("%j is a rule for %j", (line, name) => {
  expect(fits(line, name)).toEqual([true]);
});

test("a line with very many blanks is read in bounded time", () => {
  const blanks = " ".repeat(500_000);
  const started = performance.now();
  expect(fits(`a${blanks}b${blanks}`, `a${blanks}b`)).toEqual([true]);
  expect(performance.now() - started).toBeLessThan(2000);
});
