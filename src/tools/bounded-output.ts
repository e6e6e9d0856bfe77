// The output of a command in bounded memory: its beginning and its latest end are kept as plain text, all characters are counted.
import { createPlainText } from "./bash-plain-text.ts";

/** Text, or bytes that are ASCII; the memory of bytes is not to be kept. */
export type Part = string | Uint8Array;

/** Gets all of the plain text. */
export interface PartSink {
  add(part: Part): void;
  /** Takes back what has come since the last line feed. */
  eraseLine(): void;
}

export interface BoundedOutput {
  /** Takes the next bytes, which may end in the middle of a character; the memory is not kept. */
  write(bytes: Uint8Array): void;
  /** No more bytes will come. */
  end(): void;
  /** The first characters, at most `limit`. */
  head(limit: number): string;
  /** The last characters, at most `limit`. */
  tail(limit: number): string;
  /** The number of all characters (UTF-16 units) of the plain text. */
  length(): number;
}

/** Below this many bytes it is not worth it to look whether they can be kept as they are. */
const smallPiece = 4096;
/** So many bytes become text at a time: of larger texts a flood makes more than the garbage collector takes away in time. */
const decodedPiece = 32 * 1024;

/**
 * Bytes are read as UTF-8, with U+FFFD for what is not. Escape sequences and control characters are left out, and a line that
 * overwrites itself is its last state. Up to `limit` characters of the beginning and of the end are kept; `whole` gets everything.
 */
export function createBoundedOutput(limit: number, whole?: PartSink): BoundedOutput {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const lines = createEnds(limit);
  /** What has come since the last line feed, as long as it can be taken back. */
  const line = createEnds(limit);

  function add(part: Part): void {
    whole?.add(part);
    const end = lineEnd(part);
    if (end === 0) {
      line.add(part);
      return;
    }
    if (line.length() === 0) lines.add(cut(part, 0, end));
    else {
      line.add(cut(part, 0, end));
      lines.addAll(line);
      line.clear();
    }
    if (end < part.length) line.add(cut(part, end));
  }

  function eraseLine(): void {
    whole?.eraseLine();
    line.clear();
  }

  const plain = createPlainText({ text: add, eraseLine });

  return {
    write(bytes) {
      if (bytes.length < smallPiece || !plain.isIdle() || !isPlainAscii(bytes)) {
        for (let at = 0; at < bytes.length; at += decodedPiece) {
          plain.write(decoder.decode(bytes.subarray(at, at + decodedPiece), { stream: true }));
        }
        return;
      }
      // The first goes the long way, so that a character or a line that is still open before it ends as it should.
      plain.write(decoder.decode(bytes.subarray(0, 1), { stream: true }));
      add(bytes.subarray(1));
    },
    end: () => plain.write(decoder.decode()),
    head: (count) =>
      headOf(lines.length() < limit ? `${lines.head()}${line.head()}` : lines.head(), Math.min(count, limit)),
    tail: (count) => tailOf(line.length() >= count ? line.tail() : `${lines.tail()}${line.tail()}`, count),
    length: () => lines.length() + line.length(),
  };
}

interface Ends {
  /** The memory of bytes is not kept. */
  add(part: Part): void;
  addAll(other: Ends): void;
  clear(): void;
  head(): string;
  tail(): string;
  length(): number;
}

/** The first and the last `limit` characters of what is added, at the least cost for large pieces that are only passing through. */
function createEnds(limit: number): Ends {
  let head = "";
  let length = 0;
  // The end is `before`, then `pending` bytes that are not made into a string as long as nobody asks for it, then `after`.
  let before = "";
  let bytes = new Uint8Array(0);
  let pending = 0;
  let after = "";

  /** For a part that is the whole end by itself. */
  function addBytes(part: Uint8Array): void {
    if (bytes.length === 0) bytes = new Uint8Array(limit);
    bytes.set(part.subarray(-limit));
    pending = limit;
    before = after = "";
  }

  function addText(text: string): void {
    after += text;
    // Cut only now and then, so that many small pieces cost no more than one large one.
    if (after.length <= 2 * limit) return;
    before = "";
    pending = 0;
    after = after.slice(-limit);
  }

  function settle(): void {
    before = `${before}${toText(bytes.subarray(0, pending))}${after}`.slice(-limit);
    pending = 0;
    after = "";
  }

  function addHead(part: Part): void {
    if (length < limit) head += toText(cut(part, 0, limit - length));
  }

  return {
    add(part) {
      addHead(part);
      length += part.length;
      if (typeof part !== "string" && part.length >= limit) addBytes(part);
      else addText(toText(part));
    },
    addAll(other) {
      addHead(other.head());
      length += other.length();
      addText(other.tail());
    },
    clear() {
      head = before = after = "";
      length = pending = 0;
    },
    head: () => head,
    tail() {
      settle();
      return before;
    },
    length: () => length,
  };
}

function cut(part: Part, from: number, to?: number): Part {
  return typeof part === "string" ? part.slice(from, to) : part.subarray(from, to);
}

/** Behind the last line feed; 0 when there is none. */
function lineEnd(part: Part): number {
  return (typeof part === "string" ? part.lastIndexOf("\n") : part.lastIndexOf(0x0a)) + 1;
}

function toText(part: Part): string {
  return typeof part === "string" ? part : Buffer.from(part.buffer, part.byteOffset, part.length).toString("latin1");
}

/** Only printable ASCII, tabs and line feeds. Four bytes at a time: this is looked at for every byte of a flood. */
function isPlainAscii(bytes: Uint8Array): boolean {
  if (bytes.byteOffset % 4 !== 0) return false;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as number;
    // The highest bit of a byte shows one that is not ASCII, DEL when 1 is added, and a control character when a blank is taken away.
    if (((word | (word + 0x01010101)) & 0x80808080) !== 0) return false;
    if (((word - 0x20202020) & 0x80808080) === 0) continue;
    for (let shift = 0; shift < 32; shift += 8) if (!isPlainByte((word >>> shift) & 0xff)) return false;
  }
  return bytes.subarray(words.length * 4).every(isPlainByte);
}

function isPlainByte(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x09;
}

/** The first `count` characters, one less where `text` or the cut ends in the middle of a surrogate pair. */
function headOf(text: string, count: number): string {
  const head = text.slice(0, count);
  const last = head.charCodeAt(head.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? head.slice(0, -1) : head;
}

function tailOf(text: string, count: number): string {
  const tail = count === 0 ? "" : text.slice(-count);
  const first = tail.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? tail.slice(1) : tail;
}
