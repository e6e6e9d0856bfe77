// Finding and replacing in text whose line endings the searcher does not know. Pure.

export interface Replacement {
  /** The text to look for, not empty. */
  readonly wanted: string;
  readonly replacement: string;
  /** Every occurrence, else the only one. */
  readonly all: boolean;
}

export interface Replaced {
  readonly text: string;
  /** For each replacement the line, counted from 1, of each occurrence. */
  readonly lines: readonly (readonly number[])[];
  /** The first two replacements (by index, ascending) whose occurrences overlap. */
  readonly overlap?: readonly [number, number];
}

/**
 * `text` with each `wanted`, as it stands in `text`, replaced by its `replacement`. It stays as it is when one of them is not there, is there
 * several times without `all` (overlapping occurrences count), or overlaps another. An LF in `wanted` and `replacement` means any line ending (LF
 * or CRLF); a lone CR is an ordinary character. What is equal at both ends of the two is not touched. Line breaks in between keep their ending
 * where their number stays, and else take the text's most frequent one.
 */
export function replaceText(text: string, replacements: readonly Replacement[]): Replaced {
  const view = toLf(text);
  const found = replacements.map(({ wanted, replacement, all }) => {
    const from = toLf(wanted);
    return { from, to: toLf(replacement), places: findAll(view, from, all ? from.length : 1) };
  });
  const lines = found.map(({ places }) => linesAt(view, places));
  const unclear = found.some(
    ({ places }, index) => places.length !== 1 && !(places.length > 1 && replacements[index]?.all),
  );
  if (unclear) return { text, lines };

  const occurrences = found
    .flatMap(({ from, to, places }, index) => places.map((place) => ({ from, to, place, index })))
    .sort((a, b) => a.place - b.place);
  for (const [position, { place, index }] of occurrences.entries()) {
    const previous = occurrences[position - 1];
    if (previous && place < previous.place + previous.from.length) {
      return { text, lines, overlap: [Math.min(previous.index, index), Math.max(previous.index, index)] };
    }
  }

  const usual = dominantBreak(text);
  const toSource = createOffsetMap(text);
  const pieces: string[] = [];
  let copied = 0;
  for (const { from, to, place } of occurrences) {
    const head = commonHead(from, to);
    const tail = commonTail(from, to, head);
    const middle = to.slice(head, to.length - tail);
    const start = toSource(place + head);
    const end = toSource(place + from.length - tail);
    const breaks = breaksIn(text.slice(start, end));
    const kept = breaks.length === breaksIn(middle).length ? breaks : [];
    pieces.push(text.slice(copied, start), withBreaks(middle, kept, usual));
    copied = end;
  }
  pieces.push(text.slice(copied));
  return { text: pieces.join(""), lines };
}

/** Whether the two differ in nothing that `replaceText` would write: at most in line endings. */
export function isSameText(a: string, b: string): boolean {
  return toLf(a) === toLf(b);
}

function findAll(view: string, wanted: string, step: number): number[] {
  const places: number[] = [];
  for (let at = view.indexOf(wanted); at >= 0; at = view.indexOf(wanted, at + step)) places.push(at);
  return places;
}

function linesAt(view: string, places: readonly number[]): number[] {
  let line = 1;
  let next = view.indexOf("\n");
  return places.map((place) => {
    while (next >= 0 && next < place) {
      line++;
      next = view.indexOf("\n", next + 1);
    }
    return line;
  });
}

function commonHead(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

/** How much is equal at the end, not counting what `commonHead` has counted. */
function commonTail(a: string, b: string, head: number): number {
  const most = Math.min(a.length, b.length) - head;
  let length = 0;
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

/** From an offset in the LF view to the one in `text`; to be asked in ascending order. A break's offset is that of its first character. */
function createOffsetMap(text: string): (offset: number) => number {
  let passed = 0;
  let next = text.indexOf("\r\n");
  return (offset) => {
    while (next >= 0 && next - passed < offset) {
      passed++;
      next = text.indexOf("\r\n", next + 2);
    }
    return offset + passed;
  };
}

function toLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function breaksIn(text: string): string[] {
  return text.match(/\r?\n/g) ?? [];
}

function dominantBreak(text: string): string {
  let crlf = 0;
  let all = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    all++;
    if (text[at - 1] === "\r") crlf++;
  }
  return crlf * 2 > all ? "\r\n" : "\n";
}

/** `text` with its LFs in turn as `breaks` has them, and as `usual` beyond these. */
function withBreaks(text: string, breaks: readonly string[], usual: string): string {
  const [first = "", ...rest] = text.split("\n");
  return rest.reduce((done, line, index) => done + (breaks[index] ?? usual) + line, first);
}
