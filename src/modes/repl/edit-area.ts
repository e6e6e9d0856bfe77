// The rows on the screen that show an input while it is edited, redrawn in place, and where the cursor is in them.
import { layOut, stopAt } from "../layout.ts";
import type { EditLine } from "./edit-line.ts";
import type { Terminal } from "./terminal.ts";

export interface EditArea {
  /** Shows the input, or shows it anew; of one that is taller than the window, the part around the cursor. */
  show(label: string, line: EditLine): void;
  /** Shows all of the input for good and moves to the row below it. */
  settle(label: string, text: string): void;
  /** Takes the input off the screen; the cursor is then where its first row began. */
  erase(): void;
  /** Moves below the input and leaves it. */
  leave(): void;
  /** The rows are gone, by others' doing. */
  forget(): void;
}

export function createEditArea(terminal: Terminal): EditArea {
  /** What is shown: the width of each row, and the cursor. */
  let drawn: { readonly widths: readonly number[]; readonly row: number; readonly column: number } | undefined;

  /** Moves to where the first row began. */
  function toStart(): string {
    if (!drawn) return "";
    const { columns } = terminal;
    // A window made narrower since has wrapped the rows.
    const heights = drawn.widths.slice(0, drawn.row).map((width) => Math.max(1, Math.ceil(width / columns)));
    const up = heights.reduce((sum, height) => sum + height, 0) + Math.floor(drawn.column / columns);
    drawn = undefined;
    return `\r${up > 0 ? `\x1b[${up}A` : ""}`;
  }

  function draw(label: string, { text, cursor }: EditLine, maxHeight: number): void {
    const indent = Bun.stringWidth(Bun.stripANSI(label));
    const layout = layOut(text, Math.max(4, terminal.columns - indent));
    const stop = stopAt(layout, cursor);
    const top = Math.max(0, stop.row - maxHeight + 1);
    const rows = layout.rows
      .slice(top, top + maxHeight)
      .map((row, i) => (top + i === 0 ? label : " ".repeat(indent)) + row);
    const row = stop.row - top;
    const column = indent + stop.column;
    const back = rows.length - 1 - row;
    const place = `${back > 0 ? `\x1b[${back}A` : ""}\r${column > 0 ? `\x1b[${column}C` : ""}`;
    // Row by row: of a window that is erased from its first row on, tmux keeps a copy among the rows that have scrolled off.
    const lead = toStart();
    const erased = lead === "" ? rows.join("\n") : `${rows.map((text) => `\x1b[K${text}`).join("\n")}\x1b[J`;
    terminal.write(`${lead}${erased}${place}`);
    drawn = { widths: rows.map((text) => Bun.stringWidth(Bun.stripANSI(text))), row, column };
  }

  function leave(): void {
    if (!drawn) return;
    terminal.write("\n".repeat(drawn.widths.length - drawn.row));
    drawn = undefined;
  }

  return {
    show: (label, line) => draw(label, line, terminal.rows - 1),
    settle(label, text) {
      draw(label, { text, cursor: text.length }, Infinity);
      leave();
    },
    erase: () => terminal.write(`${toStart()}\x1b[J`),
    leave,
    forget() {
      drawn = undefined;
    },
  };
}
