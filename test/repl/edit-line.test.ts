import { expect, test } from "bun:test";
import { type EditLine, edits, kills, removedText } from "../../src/modes/repl/edit-line.ts";

/** `|` stands for the cursor. */
function parse(marked: string): EditLine {
  const cursor = marked.indexOf("|");
  return { text: marked.replace("|", ""), cursor };
}

function show({ text, cursor }: EditLine): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

test.each([
  ["left", "ab|c", "a|bc"],
  ["left", "|abc", "|abc"],
  ["left", "a👩‍👩‍👧|b", "a|👩‍👩‍👧b"],
  ["right", "a|👩‍👩‍👧b", "a👩‍👩‍👧|b"],
  ["right", "abc|", "abc|"],
  ["backspace", "ae\u0301|b", "a|b"],
  ["backspace", "|b", "|b"],
  ["delete", "a|漢b", "a|b"],
  ["ctrl-d", "a|", "a|"],
  ["home", "one\ntw|o", "one\n|two"],
  ["end", "o|ne\ntwo", "one|\ntwo"],
  ["ctrl-left", "git commit -m|", "git commit -|m"],
  ["ctrl-left", "one  |two", "|one  two"],
  ["ctrl-right", "|one two", "one| two"],
  ["ctrl-right", "one|, 漢字!", "one, 漢字|!"],
  ["ctrl-home", "one\ntw|o", "|one\ntwo"],
  ["alt-enter", "a|b", "a\n|b"],
])("%s: %j → %j", (key, from, to) => {
  expect(show(edits[key]?.(parse(from)) as EditLine)).toBe(to);
});

test.each([
  ["ctrl-w", "cat a/b.ts |", "cat |", "a/b.ts "],
  ["ctrl-w", "|x", "|x", ""],
  ["alt-backspace", "cat a/b.ts|", "cat a/b.|", "ts"],
  ["alt-d", "cat| a/b", "cat|/b", " a"],
  ["ctrl-u", "one\ntw|o", "one\n|o", "tw"],
  ["ctrl-u", "one\n|two", "one|two", "\n"],
  ["ctrl-k", "o|ne\ntwo", "o|\ntwo", "ne"],
  ["ctrl-k", "one|\ntwo", "one|two", "\n"],
])("%s: %j → %j takes %j", (key, from, to, taken) => {
  const now = kills[key]?.(parse(from)) as EditLine;
  expect(show(now)).toBe(to);
  expect(removedText(parse(from), now)).toBe(taken);
});

test("moving by words over much white space is quick", () => {
  const text = `${" ".repeat(200_000)}y `;
  const started = performance.now();
  edits["ctrl-left"]?.({ text, cursor: text.length - 2 });
  expect(performance.now() - started).toBeLessThan(1000);
});
