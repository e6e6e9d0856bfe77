// The words behind a prompt's name as its arguments.
import { expect, test } from "bun:test";
import { toArguments } from "../../../src/tools/mcp/prompts.ts";

const prompt = {
  name: "review",
  description: undefined,
  args: ["file", "style", "note"].map((name) => ({ name, required: false })),
};

test.each([
  [[], {}],
  [["a.ts"], { file: "a.ts" }],
  [["a.ts", "short", "mind", "the", "gap"], { file: "a.ts", style: "short", note: "mind the gap" }],
  [["style=short", "a.ts", "x"], { style: "short", file: "a.ts", note: "x" }],
  [["note=", "a.ts"], { note: "", file: "a.ts" }],
  [["file=a", "file=b"], { file: "a", style: "file=b" }],
  [["x=1"], { file: "x=1" }],
])("%j", (words, args) => {
  expect(toArguments(prompt, words)).toEqual(args);
});

test("a prompt without arguments takes none", () => {
  expect(toArguments({ ...prompt, args: [] }, ["x", "y"])).toEqual({});
});
