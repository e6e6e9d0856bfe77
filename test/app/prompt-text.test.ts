// What `--system-prompt` and `--append-system-prompt` take: a text, or the file that has it, and never one for the other.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { textOrFile } from "../../src/app/prompt-text.ts";
import { tmp } from "../helpers/tmp.ts";

test("a file gives its text, anything else is the text", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("p.md"), "from the file é");
  mkdirSync(dir.file("folder"));
  expect(textOrFile("p.md", dir.path)).toBe("from the file é");
  for (const text of ["", "be brief", "folder", "and/or", "see ./nope.md", "line\n./nope.md", "./nope.md "]) {
    expect(textOrFile(text, dir.path)).toBe(text);
  }
});

test.each([
  ["nope.md", "there is no such regular file"],
  ["./nope", "there is no such regular file"],
  ["../nope", "there is no such regular file"],
  ["/dev/null", "there is no such regular file"],
  ["~/no/such/prompt", "there is no such regular file"],
  ["binary", "it is not UTF-8 text"],
])("%s is an error", async (value, why) => {
  await using dir = tmp();
  writeFileSync(dir.file("binary"), Uint8Array.of(0x61, 0xff));
  expect(() => textOrFile(value, dir.path)).toThrow(why);
});
