// Text on rows of a given width: where each character stands, wide ones included. Pure.
import { lazy } from "../util/lazy.ts";
import { visible } from "../util/sanitize.ts";

/** A place between two characters: its offset in the text and where it is shown. */
export interface Stop {
  readonly offset: number;
  readonly row: number;
  readonly column: number;
}

export interface Layout {
  /** As shown: control characters visible, tabs as spaces, none wider than asked. */
  readonly rows: readonly string[];
  /** One for every place the cursor can be, in order; the last is the end of the text. */
  readonly stops: readonly Stop[];
}

const graphemes = new Intl.Segmenter();
const tab = "    ";

export function layOut(text: string, width: number): Layout {
  const rows = [""];
  const stops: Stop[] = [];
  let column = 0;
  const breakRow = () => {
    rows.push("");
    column = 0;
  };
  for (const { segment, index } of graphemes.segment(text)) {
    const plain = segment.length === 1 && segment >= " " && segment <= "~";
    const shown = plain ? segment : segment === "\t" ? tab : visible(segment);
    const columns = plain ? 1 : segment === "\n" ? 0 : Bun.stringWidth(shown);
    // A line break that stands right behind a full row needs no cell there, but the cursor on it does.
    if (column + columns > width || (column === width && columns > 0)) breakRow();
    if (segment === "\n" && column === width) breakRow();
    stops.push({ offset: index, row: rows.length - 1, column });
    if (segment === "\n") breakRow();
    else {
      rows[rows.length - 1] += shown;
      column += columns;
    }
  }
  if (column === width) breakRow();
  stops.push({ offset: text.length, row: rows.length - 1, column });
  return { rows, stops };
}

/** Where the cursor is shown. */
export function stopAt({ stops }: Layout, offset: number): Stop {
  return stops.find((stop) => stop.offset >= offset) ?? (stops.at(-1) as Stop);
}

/** The place in `row` that is nearest to `column` from the left; nothing when there is no such row. */
export function stopInRow({ stops }: Layout, row: number, column: number): Stop | undefined {
  return stops.findLast((stop) => stop.row === row && stop.column <= column);
}

/** `text`, a single line without escape sequences, in at most `width` columns; an ellipsis where it was cut. */
export function cutToWidth(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  return width < 1 ? "" : `${fitting(graphemes.segment(text), width - 1).join("")}…`;
}

/** The same, cut at its beginning. */
export function cutStart(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  const kept = fitting([...graphemes.segment(text)].toReversed(), width - 1).toReversed();
  return width < 1 ? "" : `…${kept.join("")}`;
}

/** The first characters, as far as they have room. */
function fitting(segments: Iterable<{ readonly segment: string }>, width: number): string[] {
  const kept: string[] = [];
  let columns = 0;
  for (const { segment } of segments) {
    columns += Bun.stringWidth(segment);
    if (columns > width) break;
    kept.push(segment);
  }
  return kept;
}

/** The column the cursor is in after `text` was printed from `column` on; equal to `width` when a row was just filled. */
export function columnAfter(text: string, column: number, width: number): number {
  const last = text.slice(text.lastIndexOf("\n") + 1);
  let at = last.length === text.length ? column : 0;
  if (/^[\x20-\x7e]*$/.test(last)) return last === "" ? at : ((at + last.length - 1) % width) + 1;
  for (const { segment } of graphemes.segment(last)) {
    if (segment === "\t") at = Math.min(width - 1, (Math.floor(at / 8) + 1) * 8);
    else {
      const columns = Bun.stringWidth(segment);
      at = at + columns > width ? columns : at + columns;
    }
  }
  return at;
}

/** How many rows the cursor goes down while `text`, without escape sequences, is printed from the start of a row on. */
export function rowsDown(text: string, width: number): number {
  const lines = text.split("\n");
  return lines.reduce((rows, line) => rows + wrapsOf(line, width), lines.length - 1);
}

/** How often a terminal breaks a line that is longer than its row. */
function wrapsOf(line: string, width: number): number {
  if (/^[\x20-\x7e]*$/.test(line)) return Math.max(0, Math.ceil(line.length / width) - 1);
  let wraps = 0;
  let at = 0;
  for (const { segment } of graphemes.segment(line)) {
    const next = columnAfter(segment, at, width);
    // A tab never leaves the row.
    if (next < at && segment !== "\t") wraps++;
    at = next;
  }
  return wraps;
}

/** Words that would have less than this have no margin beside them. */
export const minRoom = 16;

/**
 * `text`, coloured or not, its lines wrapped between words to at most `columns`, but for words that are longer. What goes on stands below
 * the beginning of its line, or of its second column where blanks part two.
 */
export function wrapText(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => (Bun.stringWidth(line) > columns ? wrapLine(line, columns) : line))
    .join("\n");
}

function wrapLine(line: string, columns: number): string {
  const [start = ""] = /^.*?\S {2,}|^ +/.exec(line) ?? [];
  const room = columns - Bun.stringWidth(start);
  if (room < minRoom) return Bun.wrapAnsi(line.replace(/ {2,}/g, "  "), columns);
  return start + Bun.wrapAnsi(line.slice(start.length), room).replaceAll("\n", `\n${" ".repeat(columns - room)}`);
}

/** A part of a text, by its offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The rows of at most `width` columns in which `text`, a single line, breaks between words; a word that is longer has a row of its own. */
export function wrapWords(text: string, width: number): Span[] {
  const rows: Span[] = [];
  let start = 0;
  let end = 0;
  let column = 0;
  for (const { 0: whole, 1: gap = "", index } of text.matchAll(/^[\x20-\x7e]*$/.test(text) ? plainWords : allWords())) {
    const columns = Bun.stringWidth(whole);
    if (end > 0 && column + columns > width) {
      rows.push({ start, end });
      start = index + gap.length;
      column = Bun.stringWidth(whole.slice(gap.length));
    } else column += columns;
    end = index + whole.length;
  }
  return [...rows, { start, end }];
}

/** A word with the blanks before it. */
const plainWords = /( *)[^ ]+/g;
/** Between characters of Chinese and Japanese a row may break too, but for their punctuation; at blanks that hold words together it may not. */
const allWords = lazy(() => {
  const ideograph = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]`;
  const kept = String.raw`[\S\u00a0\u202f]`;
  const alone = String.raw`[\p{Ps}\p{Pi}]*${ideograph}[\p{Po}\p{Pe}\p{Pf}\u30fc]*`;
  return new RegExp(String.raw`((?:(?!${kept})\s)*)(?:${alone}|(?:(?!${ideograph})${kept})+)`, "gv");
});
