// Long lines as they are shown: a part of them, with its place.
import { headOf } from "../../util/truncate.ts";

/** Longer lines are not shown whole. */
const maxLineCharacters = 300;
const windowCharacters = 200;
/** Of the window, what is shown behind the match's end. */
const windowBehind = 60;

/** The line text[from, to), or a window of it around `end`, where a match ends. */
export function windowOf(text: string, from: number, to: number, end: number): string {
  const length = to - from;
  if (length <= maxLineCharacters) return text.slice(from, to);
  const stop = wholeCharacter(text, Math.min(to, Math.max(end + windowBehind, from + windowCharacters)));
  const start = wholeCharacter(text, Math.max(from, stop - windowCharacters));
  const shown = `${start > from ? "..." : ""}${text.slice(start, stop)}${stop < to ? "..." : ""}`;
  return `${shown} <columns ${start - from + 1}-${stop - from} of ${length}>`;
}

/** The line bytes[from, next), or its beginning. */
export function startOfLine(bytes: Buffer, from: number, next: number): string {
  // A UTF-16 unit has at most three bytes; two more may be the line's end.
  const text = bytes.toString("utf8", from, Math.min(next, from + 3 * maxLineCharacters + 3)).replace(/\r?\n$/, "");
  return text.length <= maxLineCharacters ? text : `${headOf(text, windowCharacters)}... <long line>`;
}

/** `at`, or the place behind it where it would split a surrogate pair. */
export function wholeCharacter(text: string, at: number): number {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff ? at + 1 : at;
}
