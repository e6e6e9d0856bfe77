// Output that scrolls by, and one status line below it that is redrawn in place and gone before anything else is printed.
import { now } from "../../util/clock.ts";
import { columnAfter, rowsDown } from "../layout.ts";
import type { Terminal } from "./terminal.ts";

export interface Screen {
  readonly columns: number;
  /** Whether the cursor stands at the start of an empty row. */
  readonly atLineStart: boolean;
  /** Milliseconds since the last print. */
  readonly quietMs: number;
  /** Prints output; escape sequences in it may only colour. */
  print(text: string): void;
  /** The same object for as long as the window keeps its size and nobody else writes to it. */
  readonly view: object;
  /** Whether all of `text` would be in reach of `replace`. */
  fits(text: string): boolean;
  /**
   * Prints `text` in the place of `shown`, which was printed last, in `view` and from the start of a row on.
   * False, with nothing done, where not all of it is on the screen any more.
   */
  replace(view: object, shown: string, text: string): boolean;
  /** Ends the row unless it is empty. */
  freshLine(): void;
  /** Shows `line`, which must fit in one row, in the place of the status line. */
  showStatus(line: string): void;
  hideStatus(): void;
  /** The cursor was moved to an empty row by others. */
  forgetPosition(): void;
}

export function createScreen(terminal: Terminal): Screen {
  let column = 0;
  let printedAt = 0;
  let view: { readonly columns: number; readonly rows: number } | undefined;
  /** The status line on the screen, with the column of the output in the row above where that row is not ended. */
  let status: { readonly above: number | undefined } | undefined;

  /** The cursor stands at the start of the status line, where it stays when a narrower window wraps the line. */
  function eraseStatus(): string {
    if (!status) return "";
    const { above } = status;
    status = undefined;
    if (above === undefined) return "\x1b[J";
    return `\x1b[J\x1b[A${above > 0 ? `\x1b[${above}C` : ""}`;
  }

  function currentView(): object {
    const { columns, rows } = terminal;
    if (view?.columns !== columns || view.rows !== rows) view = { columns, rows };
    return view;
  }

  function print(text: string): void {
    if (text === "") return;
    terminal.write(eraseStatus() + text);
    column = columnAfter(Bun.stripANSI(text), column, terminal.columns);
    printedAt = now();
  }

  function rowsOf(text: string): number {
    return rowsDown(Bun.stripANSI(text), terminal.columns);
  }

  /** The status line may take one row more, and of a window that is erased from its first row on tmux keeps a copy above it. */
  function fits(text: string): boolean {
    return rowsOf(text) <= terminal.rows - 3;
  }

  return {
    get columns() {
      return terminal.columns;
    },
    get atLineStart() {
      return column === 0;
    },
    get quietMs() {
      return now() - printedAt;
    },
    print,
    get view() {
      return currentView();
    },
    fits,
    replace(from, shown, text) {
      if (from !== currentView() || !fits(shown)) return false;
      const up = rowsOf(shown);
      terminal.write(`${eraseStatus()}${up > 0 ? `\x1b[${up}A` : ""}\r\x1b[J`);
      column = 0;
      print(text);
      return true;
    },
    freshLine: () => column > 0 && print("\n"),
    showStatus(line) {
      // Behind a row that was just filled, terminals differ in where the cursor is.
      if (!status && column >= terminal.columns) return;
      const above = status ? status.above : column > 0 ? column : undefined;
      const lead = !status && above !== undefined ? "\n" : "";
      status = { above };
      terminal.write(`${lead}${line}\x1b[J\r`);
    },
    hideStatus() {
      terminal.write(eraseStatus());
    },
    forgetPosition() {
      // One that was shown again before anybody knew.
      if (status) terminal.write("\r\x1b[J");
      column = 0;
      status = undefined;
      view = undefined;
    },
  };
}
