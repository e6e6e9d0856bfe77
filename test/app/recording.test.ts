// What a recording puts a placeholder for: folders as whole paths or their beginnings, and nothing that only looks like them.
import { expect, test } from "bun:test";
import { createSteady } from "../../src/app/recording.ts";

const steady = createSteady("/src", "/root");
const inText = (text: string) => JSON.parse(steady(JSON.stringify(text)));

test.each([
  ["/src", "<cwd>"],
  ["/src/i.ts:3: x", "<cwd>/i.ts:3: x"],
  ["in /src.", "in <cwd>."],
  ["(/src) '/src' a=/src:/root/bin", "(<cwd>) '<cwd>' a=<cwd>:<home>/bin"],
  ["cd\n/src\n\t/src", "cd\n<cwd>\n\t<cwd>"],
  ["file:///src/a", "file://<cwd>/a"],
  ["gcc -I/src/include", "gcc -I<cwd>/include"],
  ["/src/src/root", "<cwd>/src/root"],
  ['{"path":"/src\\n/src"}', '{"path":"<cwd>\\n<cwd>"}'],
])("%j becomes %j", (text, expected) => {
  expect(inText(text)).toBe(expected);
});

test.each(["./src/i.ts", "a/src", "/app/src", "~/src", "/src-old", "/src.bak", "/srcs", "/src_2", "/root-cause"])(
  "%j stays",
  (text) => {
    expect(inText(text)).toBe(text);
  },
);

test("a folder at the root of everything has no placeholder", () => {
  expect(createSteady("/", "/root")('"/a /root"')).toBe('"/a <home>"');
});
