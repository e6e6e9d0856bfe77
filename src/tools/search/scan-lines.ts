// The lines of a text that a pattern matches, numbered, cut to a window where they are long.
import type { LinePieces } from "./line-pieces.ts";
import type { Matcher } from "./matcher.ts";
import type { Pauses } from "./pauses.ts";
import { startOfLine, wholeCharacter, windowOf } from "./windows.ts";

export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** The line, or a window of it when it is long. */
  readonly text: string;
}

export interface ScanOptions {
  readonly matcher: Matcher;
  /** A line without any of these need not be looked at; the bytes are compared as they are. */
  readonly requiredBytes: readonly Uint8Array[] | undefined;
  readonly pauses: Pauses;
  /** Lines after so many matches are not searched. */
  readonly most: number;
}

const blockBytes = 256 * 1024;
/** The most characters that are searched between two looks at the clock. */
const stretch = 1024;
const newline = 0x0a;

export async function matchingLines(pieces: LinePieces, options: ScanOptions): Promise<Line[]> {
  const found: Line[] = [];
  let number = 1;
  for await (const piece of pieces()) {
    await scanPiece(piece, number, options, found);
    if (found.length >= options.most) break;
    number += countLines(piece, 0, piece.length);
  }
  return found;
}

/** The lines with these numbers, as far as they exist. */
export async function linesNumbered(pieces: LinePieces, numbers: ReadonlySet<number>): Promise<Line[]> {
  const lines: Line[] = [];
  const last = Math.max(...numbers);
  let number = 1;
  for await (const piece of pieces()) {
    for (let from = 0; from < piece.length; ) {
      const next = lineEnd(piece, from);
      if (numbers.has(number) && lines.at(-1)?.number !== number) {
        lines.push({ number, text: startOfLine(piece, from, next) });
      }
      if (number > last) return lines;
      if (piece[next - 1] === newline) number++;
      from = next;
    }
  }
  return lines;
}

async function scanPiece(piece: Buffer, firstNumber: number, options: ScanOptions, found: Line[]): Promise<void> {
  const { matcher, requiredBytes, pauses, most } = options;
  const nextBlock = requiredBytes ? blocksWith(piece, requiredBytes) : blocksOfAll(piece);
  let number = firstNumber;
  let counted = 0;
  for (let block = nextBlock(); block; block = nextBlock()) {
    number += countLines(piece, counted, block.from);
    counted = block.to;
    const text = piece.toString("utf8", block.from, block.to);
    for (let from = 0; from < text.length; number++) {
      const at = text.indexOf("\n", from);
      const next = at < 0 ? text.length : at + 1;
      const to = withoutLineEnd(text, from, next);
      const isShort = to - from <= stretch;
      const end = isShort ? matchEnd(text, from, to, matcher) : await longMatchEnd(text, from, to, options);
      if (end !== undefined && found.push({ number, text: windowOf(text, from, to, end) }) >= most) return;
      from = next;
      if (pauses.isDue()) await pauses.take();
    }
  }
}

function matchEnd(text: string, from: number, to: number, matcher: Matcher): number | undefined {
  const reached = matcher.advance(matcher.begin(), text, from, to);
  if (typeof reached === "number") return reached;
  return matcher.matchesAtEnd(reached) ? to : undefined;
}

/** The same with pauses. */
async function longMatchEnd(
  text: string,
  from: number,
  to: number,
  { matcher, pauses }: ScanOptions,
): Promise<number | undefined> {
  let progress = matcher.begin();
  for (let at = from; at < to; ) {
    const stop = wholeCharacter(text, Math.min(at + stretch, to));
    const reached = matcher.advance(progress, text, at, stop);
    if (typeof reached === "number") return reached;
    progress = reached;
    at = stop;
    if (pauses.isDue()) await pauses.take();
  }
  return matcher.matchesAtEnd(progress) ? to : undefined;
}

type NextBlock = () => { from: number; to: number } | undefined;

/** Everything, in blocks that end with a line. */
function blocksOfAll(bytes: Buffer): NextBlock {
  let from = 0;
  return () => {
    if (from >= bytes.length) return undefined;
    const block = { from, to: blockEnd(bytes, from) };
    from = block.to;
    return block;
  };
}

function blockEnd(bytes: Buffer, from: number): number {
  if (bytes.length - from <= blockBytes) return bytes.length;
  const last = bytes.lastIndexOf(newline, from + blockBytes);
  return last >= from ? last + 1 : lineEnd(bytes, from + blockBytes);
}

/** Just the lines that hold one of the texts. */
function blocksWith(bytes: Buffer, required: readonly Uint8Array[]): NextBlock {
  const places = required.map((text) => ({ text, at: -1 }));
  let from = 0;
  return () => {
    for (const place of places) {
      if (place.at >= from) continue;
      const at = bytes.indexOf(place.text, from);
      place.at = at < 0 ? Infinity : at;
    }
    const at = Math.min(...places.map((place) => place.at));
    if (at === Infinity) return undefined;
    const before = at === 0 ? -1 : bytes.lastIndexOf(newline, at - 1);
    const block = { from: Math.max(from, before + 1), to: lineEnd(bytes, at) };
    from = block.to;
    return block;
  };
}

/** The place behind the line break of the line at `from`. */
function lineEnd(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(newline, from);
  return at < 0 ? bytes.length : at + 1;
}

function countLines(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(newline, from); at >= 0 && at < to; at = bytes.indexOf(newline, at + 1)) count++;
  return count;
}

function withoutLineEnd(text: string, from: number, next: number): number {
  let to = next;
  if (to > from && text[to - 1] === "\n") to--;
  if (to > from && text[to - 1] === "\r") to--;
  return to;
}
