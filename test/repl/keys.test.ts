import { expect, test } from "bun:test";
import { createKeyDecoder, type Key } from "../../src/modes/repl/keys.ts";

const text = (text: string): Key => ({ type: "text", text });
const paste = (text: string): Key => ({ type: "paste", text });
const press = (...names: string[]): Key[] => names.map((name) => ({ type: "press", name }));

const table: [string, Key[]][] = [
  ["abc", [text("abc")]],
  ["漢字 👩‍👩‍👧", [text("漢字 👩‍👩‍👧")]],
  ["a\rb", [text("a"), ...press("enter"), text("b")]],
  ["\r\n", press("enter")],
  ["\n", press("enter")],
  ["\t\x7f\b", press("tab", "backspace", "backspace")],
  ["\x01\x03\x04\x15\x1a", press("ctrl-a", "ctrl-c", "ctrl-d", "ctrl-u", "ctrl-z")],
  ["\x1b[A\x1b[B\x1b[C\x1b[D", press("up", "down", "right", "left")],
  ["\x1bOA\x1bOH\x1bOF", press("up", "home", "end")],
  ["\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[3~\x1b[Z", press("home", "end", "home", "end", "delete", "shift-tab")],
  ["\x1b[1;5D\x1b[1;3C\x1b[3;5~", press("ctrl-left", "alt-right", "ctrl-delete")],
  ["\x1bb\x1bF\x1b\x7f", press("alt-b", "alt-f", "alt-backspace")],
  ["\x1b\r\x1b[13;2u\x1b[27;2;13~\x1b[13u", press("alt-enter", "alt-enter", "alt-enter", "enter")],
  ["\x1b\x1b[A", press("up")],
  ["\x1b[200~a\r\nb\rc\x1b[A\x1b[201~d", [paste("a\nb\nc\x1b[A"), text("d")]],
  ["\x1b[?1;2c\x1b[I\x00\x1c", []],
];

test.each(table)("%j", (input, keys) => {
  expect(createKeyDecoder().feed(input)).toEqual(keys);
});

test.each(table)("%j, character by character", (input, keys) => {
  const decoder = createKeyDecoder();
  const got: Key[] = [];
  for (const key of [...input].flatMap((character) => decoder.feed(character))) {
    const last = got.at(-1);
    if (key.type === "text" && last?.type === "text") got[got.length - 1] = text(last.text + key.text);
    else got.push(key);
  }
  // A line feed that comes later than its carriage return is a key of its own.
  if (input === "\r\n") expect(got).toEqual(press("enter", "enter"));
  else expect(got).toEqual(keys);
});

test("a lone Escape waits, and can be dropped", () => {
  const decoder = createKeyDecoder();
  expect(decoder.feed("\x1b")).toEqual([]);
  expect(decoder.pending()).toBe(true);
  expect(decoder.drop()).toEqual(press("escape"));
  expect(decoder.feed("[A")).toEqual([text("[A")]);
  expect(decoder.pending()).toBe(false);
});

test("of any other sequence that does not end nothing is left", () => {
  const decoder = createKeyDecoder();
  expect(decoder.feed("\x1b[1;")).toEqual([]);
  expect(decoder.drop()).toEqual([]);
  expect(decoder.pending()).toBe(false);
});

test("a paste that is not whole yet is no unfinished key", () => {
  const decoder = createKeyDecoder();
  expect(decoder.feed("\x1b[200~half")).toEqual([]);
  expect(decoder.pending()).toBe(false);
  expect(decoder.drop()).toEqual([]);
  expect(decoder.feed(" whole\x1b[201~")).toEqual([paste("half whole")]);
});
