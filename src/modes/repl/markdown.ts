// How the lines of an answer look: headings, lists, quotes, code, tables. Every line stays a line and code has nothing beside it, so that
// text that is no Markdown comes out as written and what is copied from the terminal can be used. (`Bun.markdown.ansi` joins lines, numbers
// lists anew, frames code, and makes control characters of `&#27;` and its like.)
import { minRoom } from "../layout.ts";
import type { Paint, Style } from "../style.ts";
import { inlineRuns, type Run, wrapRuns } from "./inline.ts";
import { formatTable, isTableRow } from "./table.ts";

/** Takes a text piece by piece, in order; a piece is a line, or all rows of a table. */
export interface Markdown {
  /** Whether `line` belongs to the piece before it. */
  joins(piece: string, line: string): boolean;
  /** How the rows of a piece begin, which may still be coming; undefined where words are not wrapped, in code and tables. */
  margin(piece: string, columns: number): Margin | undefined;
  /** The piece in rows of at most `columns`, but for code and for words that are longer. Called once for each. */
  render(piece: string, columns: number): string;
}

export interface Margin {
  /** What stands before the words as it was written: a list's mark, a quote's. */
  readonly written: string;
  /** The same as it is shown, and what stands before the words in further rows; as wide as what was written. */
  readonly first: string;
  readonly below: string;
}

interface Fence {
  readonly mark: string;
  readonly isDiff: boolean;
  /** Whether it stands in a quote, and ends with it at the latest. */
  readonly isQuoted: boolean;
}

const fenceStart = /^((?: {0,3}> ?)*)(\s*(?:(?:[-*+•]|\d{1,9}[.)])\s+)?)(`{3,}|~{3,})([^`]*)$/;
const heading = /^(#{1,6})\s+(.*)$/;
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const quotes = /^(?: {0,3}> ?)+/;
const listMark = /^\s*(?:(?:[-*+•]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)?(?=\S)/;

const ruleColumns = 40;
/** A table with more characters is higher than any window. */
const maxTable = 50_000;

export function createMarkdown(style: Style): Markdown {
  /** Of the code that has not ended yet. */
  let fence: Fence | undefined;

  function fenceAround(line: string): Fence | undefined {
    return fence?.isQuoted && line !== "" && !quotes.test(line) ? undefined : fence;
  }

  function render(piece: string, columns: number): string {
    fence = fenceAround(piece);
    if (fence) return renderCode(piece, fence);
    const [, quoted = "", indent = "", mark, info = ""] = fenceStart.exec(piece) ?? [];
    if (mark !== undefined) {
      const language = info.trim();
      fence = { mark, isDiff: /^(?:diff|patch)\b/.test(language), isQuoted: quoted !== "" };
      return barsOf(quoted, style) + indent + style.dim(`─── ${language}`.trimEnd());
    }
    const lines = piece.split("\n");
    const table = isTableRow(piece) ? formatTable(lines, columns, style) : undefined;
    return table ?? lines.map((line) => renderLine(line, columns, style)).join("\n");
  }

  function renderCode(line: string, { mark, isDiff, isQuoted }: Fence): string {
    const quoted = isQuoted ? (quotes.exec(line)?.[0] ?? "") : "";
    const bars = barsOf(quoted, style);
    const code = line.slice(quoted.length);
    const text = code.trim();
    if (text.startsWith(mark) && text === text.charAt(0).repeat(text.length)) {
      fence = undefined;
      return bars + code.slice(0, code.indexOf(text)) + style.dim("───");
    }
    return bars + (isDiff ? colourDiff(code, style) : code);
  }

  return {
    joins: (piece, line) =>
      !fenceAround(piece) && isTableRow(piece) && isTableRow(line) && piece.length + line.length < maxTable,
    margin: (piece, columns) => (fenceAround(piece) || isTableRow(piece) ? undefined : marginOf(piece, columns, style)),
    render,
  };
}

/** A whole text in such rows. */
export function renderMarkdown(text: string, columns: number, style: Style): string {
  const markdown = createMarkdown(style);
  const [first = "", ...lines] = text.split("\n");
  const rendered: string[] = [];
  let piece = first;
  for (const line of lines) {
    if (markdown.joins(piece, line)) piece += `\n${line}`;
    else {
      rendered.push(markdown.render(piece, columns));
      piece = line;
    }
  }
  return [...rendered, markdown.render(piece, columns)].join("\n");
}

function marginOf(line: string, columns: number, style: Style): Margin {
  const quoted = quotes.exec(line)?.[0] ?? "";
  const text = line.slice(quoted.length);
  const mark = rule.test(text) ? "" : (listMark.exec(text)?.[0] ?? "");
  const bars = barsOf(quoted, style);
  const below = bars + " ".repeat(Bun.stringWidth(mark));
  if (columns - Bun.stringWidth(below) < minRoom) return { written: "", first: "", below: "" };
  return { written: quoted + mark, first: bars + mark, below };
}

function barsOf(quoted: string, style: Style): string {
  return style.dim("│ ").repeat(quoted.split(">").length - 1);
}

function renderLine(line: string, columns: number, style: Style): string {
  const { written, first, below } = marginOf(line, columns, style);
  const room = columns - Bun.stringWidth(below);
  const text = line.slice(written.length);
  if (rule.test(text)) return first + style.dim("─".repeat(Math.min(room, ruleColumns)));
  return first + wrapRuns(runsOf(text, style), room).join(`\n${below}`);
}

function runsOf(text: string, style: Style): Run[] {
  const [, level, title = ""] = heading.exec(text) ?? [];
  if (level === undefined) return inlineRuns(text, style);
  const paint: Paint = level === "#" ? (part) => style.bold(style.underline(part)) : style.bold;
  return inlineRuns(title.replace(/ #+\s*$/, ""), style, paint);
}

function colourDiff(line: string, style: Style): string {
  if (line.startsWith("+")) return style.green(line);
  if (line.startsWith("-")) return style.red(line);
  return line.startsWith("@@") ? style.cyan(line) : line;
}
