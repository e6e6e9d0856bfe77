import { expect, test } from "bun:test";
import { lineOfKey, lineOfSyntaxError } from "../../src/config/locate.ts";

function isToml(text: string): boolean {
  try {
    Bun.TOML.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ["a missing value", 'a = 1\n\n\nb =\nc = "x"\n', 4],
  ["the first line", "garbage\n", 1],
  ["an unfinished list", "a = 1\nb = [\n  1,\nc = 2\n", 2],
  ["a repeated key after a comment", "a = 1\n# again\na = 2\n", 3],
  ["a value behind a whole list", "a = [\n  1,\n]\nb = = 1\n", 4],
])("a syntax error is found: %s", (_name, text, line) => {
  expect(lineOfSyntaxError(text, isToml)).toBe(line);
});

const text = `provider = "a"
[providers.a]
base_url = "x"
[providers.b]
base_url = 5
cost = { input = -1 }
[[providers.b.models]]
id = 7
[providers."c.d"]
api = "soap"
`;

test.each([
  [["provider"], 1],
  [["providers", "a", "base_url"], 3],
  [["providers", "b", "base_url"], 5],
  [["providers", "b", "cost", "input"], 6],
  [["providers", "b", "models", 0, "id"], 8],
  [["providers", "c.d", "api"], 10],
  [["providers", "a", "missing"], 2],
  [["nothing"], undefined],
])("the line of %j is %p", (path, line) => {
  expect(lineOfKey(text, path)).toBe(line);
});
