// The rows of an input on a terminal.
import { expect, test } from "bun:test";
import { createEditArea } from "../../src/modes/repl/edit-area.ts";
import { createFakeScreen } from "./fake-screen.ts";

test("an input in the first row of the window leaves no copies of itself above it", () => {
  const { terminal, scrollback } = createFakeScreen(10, 6);
  const area = createEditArea(terminal);
  for (const text of ["", "a", "ab", "ab\ncdefghijkl", "ab\nc"]) area.show("> ", { text, cursor: text.length });
  expect(scrollback()).toEqual(["> ab", "  c"]);
});
