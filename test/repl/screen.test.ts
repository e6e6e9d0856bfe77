import { expect, test } from "bun:test";
import { createFakeScreen } from "./fake-screen.ts";

test("the status line stands below the output and is gone before more of it", () => {
  const { screen, shown } = createFakeScreen();
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
  const { screen, shown } = createFakeScreen();
  screen.print("one\nhalf 漢字 of");
  screen.showStatus("waiting");
  expect(shown()).toEqual(["one", "half 漢字 of", "waiting"]);
  screen.print(" two\n");
  expect(shown()).toEqual(["one", "half 漢字 of two"]);
});

test("the same at the lower edge, and on wrapped rows", () => {
  const { screen, shown } = createFakeScreen(10, 3);
  screen.print("a\nb\nc\n0123456789xyz");
  for (let i = 0; i < 3; i++) screen.showStatus(`wait ${i}`);
  expect(shown()).toEqual(["0123456789", "xyz", "wait 2"]);
  screen.print("!\nend");
  expect(shown()).toEqual(["0123456789", "xyz!", "end"]);
});

test("not where a row was just filled, since terminals differ in where the cursor is then", () => {
  const { screen, shown } = createFakeScreen(10);
  screen.print("0123456789");
  screen.showStatus("waiting");
  expect(shown()).toEqual(["0123456789"]);
  screen.freshLine();
  screen.showStatus("waiting");
  expect(shown()).toEqual(["0123456789", "waiting"]);
});

test("a status line that others have moved leaves no trace", () => {
  const { screen, shown } = createFakeScreen();
  screen.showStatus("waiting");
  screen.forgetPosition();
  screen.print("one\n");
  expect(shown()).toEqual(["one"]);
});

test("what was printed last is replaced, however many rows it has, below a status line or not", () => {
  const { screen, shown } = createFakeScreen(10);
  screen.print("one\n");
  const { view } = screen;
  screen.print("0123456789012\n漢字漢字漢x");
  screen.showStatus("waiting");
  expect(screen.replace(view, "0123456789012\n漢字漢字漢x", "two")).toBe(true);
  screen.print("!");
  expect(shown()).toEqual(["one", "two!"]);
});

test("nothing is replaced that has scrolled off, or stands in a window of another size or one that others wrote to", () => {
  const text = "a\nb\nc\nd\ne\nf";
  const { screen, shown, resize } = createFakeScreen(10, 6);
  const { view } = screen;
  screen.print(text);
  expect(screen.replace(view, text, "x")).toBe(false);
  expect(screen.replace(view, "f", "g")).toBe(true);
  screen.forgetPosition();
  expect(screen.replace(view, "g", "x")).toBe(false);
  const { view: next } = screen;
  resize(12, 6);
  expect(screen.replace(next, "g", "x")).toBe(false);
  expect(shown()).toEqual(["a", "b", "c", "d", "e", "g"]);
});
