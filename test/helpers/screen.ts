// What a terminal of a given size shows after some output: enough of the control sequences for a line editor and a status line.
import { plain, restyle, type Style } from "./terminal-style.ts";

/** One grapheme; the cell behind a wide one has an empty text. */
export interface Cell {
  readonly text: string;
  readonly style: Style;
}

/** The rows of the screen, top to bottom, without trailing blanks; empty rows at the end are left out. */
export function renderScreen(output: string, cols: number, rows: number): string[] {
  return textOf(drawScreen(output, cols, rows));
}

/** The same with all rows that have scrolled off above it. */
export function renderScrollback(output: string, cols: number, rows: number): string[] {
  const scrolledOff: Cell[][] = [];
  const screen = drawScreen(output, cols, rows, scrolledOff);
  return textOf([...scrolledOff, ...screen]);
}

function textOf(rows: readonly (readonly Cell[])[]): string[] {
  const lines = rows.map((cells) =>
    cells
      .map(({ text }) => text)
      .join("")
      .trimEnd(),
  );
  while (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The cells of the screen's rows, as far as each was written; rows that leave it go to `scrolledOff`. */
export function drawScreen(output: string, cols: number, rows: number, scrolledOff: Cell[][] = []): Cell[][] {
  const blank: Cell = { text: " ", style: plain };
  let grid: Cell[][] = [[]];
  let style = plain;
  let row = 0;
  let col = 0;
  let saved = { row: 0, col: 0 };
  const line = (): Cell[] => {
    while (grid.length <= row) grid.push([]);
    return grid[row] as Cell[];
  };
  const newline = () => {
    row++;
    line();
    if (grid.length > rows) {
      scrolledOff.push(...grid.splice(0, grid.length - rows));
      row = rows - 1;
    }
  };
  const put = (text: string) => {
    const width = Bun.stringWidth(text);
    if (width === 0) {
      const cells = line();
      const { text: base, style } = cells[col - 1] ?? blank;
      if (col > 0) cells[col - 1] = { text: `${base}${text}`, style };
      return;
    }
    if (col + width > cols) {
      col = 0;
      newline();
    }
    const cells = line();
    while (cells.length < col) cells.push(blank);
    cells[col] = { text, style };
    for (let i = 1; i < width; i++) cells[col + i] = { text: "", style };
    col += width;
  };
  const control = (final: string, first: number | undefined, second: number | undefined) => {
    const count = first || 1;
    switch (final) {
      case "A":
        row = Math.max(0, row - count);
        break;
      case "B":
        row = Math.min(rows - 1, row + count);
        break;
      case "C":
        col = Math.min(cols - 1, col + count);
        break;
      case "D":
        col = Math.max(0, Math.min(col, cols - 1) - count);
        break;
      case "G":
        col = count - 1;
        break;
      case "H":
      case "f":
        row = count - 1;
        col = (second || 1) - 1;
        break;
      case "J":
        if (first === 2 || first === 3) grid = grid.map(() => []);
        else if (!first) {
          // As in tmux; others forget what is erased.
          if (row === 0 && col === 0)
            scrolledOff.push(...grid.slice(0, grid.findLastIndex((cells) => cells.length > 0) + 1));
          line().length = Math.min(line().length, col);
          grid.length = row + 1;
        }
        break;
      case "K":
        if (first === 2) line().length = 0;
        else if (first === 1) line().fill(blank, 0, col + 1);
        else line().length = Math.min(line().length, col);
        break;
      case "s":
        saved = { row, col };
        break;
      case "u":
        ({ row, col } = saved);
        break;
    }
  };
  const token =
    /\x1b\[([?>=]?)([\d;]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[78]|\x1b[ -/]*[0-~]|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+/g;
  for (const [text, mode, params = "", final] of output.matchAll(token)) {
    if (final !== undefined) {
      const [first, second] = params.split(";").map((number) => (number === "" ? undefined : Number(number)));
      if (mode === "" && final === "m") style = restyle(style, params);
      else if (mode === "") control(final, first, second);
    } else if (text === "\x1b7") saved = { row, col };
    else if (text === "\x1b8") ({ row, col } = saved);
    else if (text === "\n") newline();
    else if (text === "\r") col = 0;
    else if (text === "\b") col = Math.max(0, col - 1);
    else if (text === "\t") col = Math.min(cols - 1, (Math.floor(col / 8) + 1) * 8);
    else if (text > "\x1f" && text !== "\x7f") for (const { segment } of graphemes.segment(text)) put(segment);
  }
  return grid.map((cells) => Array.from(cells, (cell) => cell ?? blank));
}

const graphemes = new Intl.Segmenter();
