// A table of an answer, its columns aligned and its cells wrapped to fit the window.
import type { Paint, Style } from "../style.ts";
import { inlineRuns, type Run, wrapRuns } from "./inline.ts";

type Alignment = "left" | "center" | "right";
/** The lines of a cell. */
type Cell = readonly (readonly Run[])[];

const rule = /^\s*\|(?:\s*:?-+:?\s*\|)*\s*(?::?-+:?\s*)?$/;

export function isTableRow(line: string): boolean {
  return /^\s*\|/.test(line);
}

/** Undefined for lines that are no table, and for one that does not fit `columns`. */
export function formatTable(lines: readonly string[], columns: number, style: Style): string | undefined {
  const [head = "", delimiters = "", ...rest] = lines;
  const titles = cellsOf(head);
  const alignments = cellsOf(delimiters).map(alignmentOf);
  if (!rule.test(delimiters) || titles.length !== alignments.length) return undefined;
  const indent = /^\s*/.exec(head)?.[0] ?? "";
  const body = rest.map((line) => cellsOf(line, titles.length).map((text) => cellOf(text, style)));
  const rows = [titles.map((text) => cellOf(text, style, style.bold)), ...body];
  const room = columns - indent.length - 3 * (alignments.length - 1);
  const cells = alignments.map((_, column) => rows.map((row) => row[column] ?? []));
  const widths = fitWidths(cells, room);
  if (!widths) return undefined;
  const wrapped = rows.map((row) =>
    formatRow(
      widths.map((width, column) => wrapCell(row[column] ?? [], width)),
      widths,
      alignments,
      style.dim(" │ "),
    ),
  );
  const [first = [], ...others] = wrapped;
  const line = style.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  return [...first, line, ...others.flat()].map((row) => indent + row).join("\n");
}

/** The cells of a line, `most` of them; a `|` in one is written as `\|`, and what is behind too many belongs to the last. */
function cellsOf(line: string, most = Infinity): string[] {
  const inside = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  const parts = inside.split(/(?<!\\)\|/);
  const cells = parts.length > most ? [...parts.slice(0, most - 1), parts.slice(most - 1).join("|")] : parts;
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function cellOf(text: string, style: Style, paint?: Paint): Cell {
  return text.split(/<br ?\/?>/i).map((line) => inlineRuns(line.trim(), style, paint));
}

function wrapCell(cell: Cell, width: number): string[] {
  return cell.flatMap((line) => wrapRuns(line, width));
}

function alignmentOf(delimiter: string): Alignment {
  if (!delimiter.endsWith(":")) return "left";
  return delimiter.startsWith(":") ? "center" : "right";
}

/** The width of each column: what its cells need, or less where words can be wrapped. Undefined where that is not enough. */
function fitWidths(columns: readonly (readonly Cell[])[], room: number): number[] | undefined {
  const needed = columns.map((column) => widest(column, Infinity));
  const least = columns.map((column) => widest(column, 1));
  if (least.reduce((sum, width) => sum + width, 0) > room) return undefined;
  const widths = [...needed];
  for (let excess = widths.reduce((sum, width) => sum + width, 0) - room; excess > 0; excess--) {
    const shrinkable = widths.map((width, i) => (width > (least[i] ?? 0) ? width : 0));
    const column = shrinkable.indexOf(Math.max(...shrinkable));
    widths[column] = (widths[column] ?? 0) - 1;
  }
  return widths;
}

/** The widest row of cells that are wrapped to `width`. */
function widest(cells: readonly Cell[], width: number): number {
  return Math.max(1, ...cells.flatMap((cell) => wrapCell(cell, width).map((row) => Bun.stringWidth(row))));
}

function formatRow(
  cells: readonly (readonly string[])[],
  widths: readonly number[],
  alignments: readonly Alignment[],
  separator: string,
): string[] {
  const height = Math.max(...cells.map((rows) => rows.length));
  return Array.from({ length: height }, (_, row) =>
    cells
      .map((rows, column) => pad(rows[row] ?? "", widths[column] ?? 0, alignments[column] ?? "left"))
      .join(separator)
      .trimEnd(),
  );
}

function pad(text: string, width: number, alignment: Alignment): string {
  const blanks = Math.max(0, width - Bun.stringWidth(text));
  const before = alignment === "left" ? 0 : alignment === "right" ? blanks : Math.floor(blanks / 2);
  return " ".repeat(before) + text + " ".repeat(blanks - before);
}
