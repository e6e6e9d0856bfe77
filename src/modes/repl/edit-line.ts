// The text being typed and where the cursor is in it: what each editing key makes of it. Pure.

/** `cursor` is an offset into `text`, always between two characters as a person sees them. */
export interface EditLine {
  readonly text: string;
  readonly cursor: number;
}

type Edit = (line: EditLine) => EditLine;

const graphemes = new Intl.Segmenter();

export function lineOf(text: string): EditLine {
  return { text, cursor: text.length };
}

export function insert({ text, cursor }: EditLine, piece: string): EditLine {
  return { text: text.slice(0, cursor) + piece + text.slice(cursor), cursor: cursor + piece.length };
}

function before({ text, cursor }: EditLine): number {
  return cursor === 0 ? 0 : (graphemes.segment(text).containing(cursor - 1)?.index ?? cursor - 1);
}

function after({ text, cursor }: EditLine): number {
  const segment = graphemes.segment(text).containing(cursor);
  return segment ? segment.index + segment.segment.length : text.length;
}

const isWord = (character: string) => /[\p{L}\p{N}\p{M}_\ud800-\udfff]/u.test(character);
const isInk = (character: string) => /\S/.test(character);

/** Back over what is no part of a word, then over the word. */
function startOf(text: string, cursor: number, isPart: (character: string) => boolean): number {
  let at = cursor;
  while (at > 0 && !isPart(text.charAt(at - 1))) at--;
  while (at > 0 && isPart(text.charAt(at - 1))) at--;
  return at;
}

const wordStart = ({ text, cursor }: EditLine) => startOf(text, cursor, isWord);
/** Words between white space, as Ctrl-W takes them everywhere. */
const blankWordStart = ({ text, cursor }: EditLine) => startOf(text, cursor, isInk);

function wordEnd({ text, cursor }: EditLine): number {
  let at = cursor;
  while (at < text.length && !isWord(text.charAt(at))) at++;
  while (at < text.length && isWord(text.charAt(at))) at++;
  return at;
}

function rowStart({ text, cursor }: EditLine): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function rowEnd({ text, cursor }: EditLine): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

const moveTo =
  (target: (line: EditLine) => number): Edit =>
  (line) => ({ text: line.text, cursor: target(line) });

/** Takes away what lies between the cursor and the target. */
const removeTo =
  (target: (line: EditLine) => number): Edit =>
  (line) => {
    const [from, to] = [line.cursor, target(line)].sort((a, b) => a - b) as [number, number];
    return { text: line.text.slice(0, from) + line.text.slice(to), cursor: from };
  };

/** At the end of a row the line break itself goes, and likewise at its start. */
const orBreak =
  (target: (line: EditLine) => number, otherwise: (line: EditLine) => number) =>
  (line: EditLine): number =>
    target(line) === line.cursor ? otherwise(line) : target(line);

/** Keys that edit or move, by name. */
export const edits: Readonly<Record<string, Edit>> = {
  left: moveTo(before),
  "ctrl-b": moveTo(before),
  right: moveTo(after),
  "ctrl-f": moveTo(after),
  "ctrl-left": moveTo(wordStart),
  "alt-left": moveTo(wordStart),
  "alt-b": moveTo(wordStart),
  "ctrl-right": moveTo(wordEnd),
  "alt-right": moveTo(wordEnd),
  "alt-f": moveTo(wordEnd),
  home: moveTo(rowStart),
  "ctrl-a": moveTo(rowStart),
  end: moveTo(rowEnd),
  "ctrl-e": moveTo(rowEnd),
  "ctrl-home": moveTo(() => 0),
  "ctrl-end": moveTo(({ text }) => text.length),
  backspace: removeTo(before),
  delete: removeTo(after),
  "ctrl-d": removeTo(after),
  "alt-enter": (line) => insert(line, "\n"),
};

/** Keys whose removed text comes back with Ctrl-Y. */
export const kills: Readonly<Record<string, Edit>> = {
  "ctrl-w": removeTo(blankWordStart),
  "alt-backspace": removeTo(wordStart),
  "alt-d": removeTo(wordEnd),
  "ctrl-u": removeTo(orBreak(rowStart, before)),
  "ctrl-k": removeTo(orBreak(rowEnd, after)),
};

/** What an edit took out between two states. */
export function removedText(old: EditLine, now: EditLine): string {
  return old.text.slice(now.cursor, now.cursor + old.text.length - now.text.length);
}
