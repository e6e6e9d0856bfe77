// Finding and replacing in text whose line endings the searcher does not know. Pure.

export interface Replaced {
  readonly text: string;
  /** The line of each occurrence, counted from 1. */
  readonly lines: readonly number[];
}

/**
 * `text` with `wanted` replaced by `replacement`: every occurrence when `all` is set, else the only one; with none or several (overlapping ones
 * count) `text` stays as it is. An LF in `wanted` and `replacement` means any line ending (LF or CRLF); a lone CR is an ordinary character.
 * What is equal at both ends of the two is not touched. Line breaks in between keep their ending where their number stays, and else
 * take the text's most frequent one.
 */
export function replaceText(text: string, wanted: string, replacement: string, all: boolean): Replaced {
  const view = toLf(text);
  const from = toLf(wanted);
  const to = toLf(replacement);
  const places = findAll(view, from, all ? from.length : 1);
  const lines = linesAt(view, places);
  if (places.length === 0 || (places.length > 1 && !all)) return { text, lines };

  const head = commonHead(from, to);
  const tail = commonTail(from, to, head);
  const middle = to.slice(head, to.length - tail);
  const sameCount = breaksIn(from.slice(head, from.length - tail)).length === breaksIn(middle).length;
  const usual = dominantBreak(text);
  const toSource = createOffsetMap(text);
  const pieces: string[] = [];
  let copied = 0;
  for (const place of places) {
    const start = toSource(place + head);
    const end = toSource(place + from.length - tail);
    const breaks = sameCount ? breaksIn(text.slice(start, end)) : [];
    pieces.push(text.slice(copied, start), withBreaks(middle, breaks, usual));
    copied = end;
  }
  pieces.push(text.slice(copied));
  return { text: pieces.join(""), lines };
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
