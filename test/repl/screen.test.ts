import { expect, test } from "bun:test";
import { createScreen } from "../../src/modes/repl/screen.ts";
import type { Terminal } from "../../src/modes/repl/terminal.ts";
import { renderScreen } from "../helpers/screen.ts";

function fakeScreen(columns = 20, rows = 6) {
  let output = "";
  const terminal: Terminal = { columns, rows, write: (text) => (output += text), stop() {}, close() {} };
  const resized = { ...terminal };
  const screen = createScreen(resized);
  return { screen, shown: () => renderScreen(output.replaceAll("\n", "\r\n"), columns, rows) };
}

test("the status line stands below the output and is gone before more of it", () => {
  const { screen, shown } = fakeScreen();
  screen.print("one\n");
  screen.showStatus("waiting 1");
  screen.showStatus("waiting 2");
  expect(shown()).toEqual(["one", "waiting 2"]);
  screen.print("two\n");
  expect(shown()).toEqual(["one", "two"]);
  screen.showStatus("waiting 3");
  screen.hideStatus();
  expect(shown()).toEqual(["one", "two"]);
});

test("under a line that is not ended, which then goes on where it was", () => {
  const { screen, shown } = fakeScreen();
  screen.print("one\nhalf 漢字 of");
  screen.showStatus("waiting");
  expect(shown()).toEqual(["one", "half 漢字 of", "waiting"]);
  screen.print(" two\n");
  expect(shown()).toEqual(["one", "half 漢字 of two"]);
});

test("the same at the lower edge, and on wrapped rows", () => {
  const { screen, shown } = fakeScreen(10, 3);
  screen.print("a\nb\nc\n0123456789xyz");
  for (let i = 0; i < 3; i++) screen.showStatus(`wait ${i}`);
  expect(shown()).toEqual(["0123456789", "xyz", "wait 2"]);
  screen.print("!\nend");
  expect(shown()).toEqual(["0123456789", "xyz!", "end"]);
});

test("not where a row was just filled, since terminals differ in where the cursor is then", () => {
  const { screen, shown } = fakeScreen(10);
  screen.print("0123456789");
  screen.showStatus("waiting");
  expect(shown()).toEqual(["0123456789"]);
  screen.freshLine();
  screen.showStatus("waiting");
  expect(shown()).toEqual(["0123456789", "waiting"]);
});
