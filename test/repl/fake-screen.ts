// The REPL's screen on a terminal that only notes what is written to it.
import { createScreen, type Screen } from "../../src/modes/repl/screen.ts";
import type { Terminal } from "../../src/modes/repl/terminal.ts";
import { renderScreen, renderScrollback } from "../helpers/screen.ts";

export interface FakeScreen {
  readonly screen: Screen;
  readonly terminal: Terminal;
  /** The rows of the window. */
  shown(): string[];
  /** The same and all above them; in a window of `rows` rows, where that is given. */
  scrollback(rows?: number): string[];
  resize(columns: number, rows: number): void;
}

export function createFakeScreen(columns = 20, rows = 6): FakeScreen {
  let output = "";
  let size = { columns, rows };
  const terminal: Terminal = {
    get columns() {
      return size.columns;
    },
    get rows() {
      return size.rows;
    },
    write: (text) => {
      output += text;
    },
    takeTyped() {},
    stop() {},
    close() {},
  };
  const sent = () => output.replaceAll("\n", "\r\n");
  return {
    screen: createScreen(terminal),
    terminal,
    shown: () => renderScreen(sent(), size.columns, size.rows),
    scrollback: (rows = size.rows) => renderScrollback(sent(), size.columns, rows),
    resize(columns, rows) {
      size = { columns, rows };
    },
  };
}
