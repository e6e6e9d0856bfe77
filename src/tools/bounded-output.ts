// The output of a command in bounded memory: its beginning and its latest end are kept, all characters are counted.
import { headOf } from "../util/truncate.ts";

export interface BoundedOutput {
  /** Takes the next bytes; what is decoded may end in the middle of a character. */
  write(bytes: Uint8Array): void;
  /** No more bytes will come. */
  end(): void;
  /** The first `limit` characters at most. */
  head(): string;
  /** The last characters, at most `tailLimit`. */
  tail(): string;
  /** The number of all characters (UTF-16 units, NUL not counted). */
  length(): number;
}

/** Bytes are read as UTF-8, with U+FFFD for what is not; NUL is left out. */
export function createBoundedOutput(limit: number, tailLimit: number): BoundedOutput {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let head = "";
  let tail = "";
  let length = 0;

  function add(decoded: string): void {
    const text = decoded.includes("\0") ? decoded.replace(/\0+/g, "") : decoded;
    if (length < limit) head += text.slice(0, limit - length);
    length += text.length;
    tail = text.length >= tailLimit ? text.slice(-tailLimit) : tail + text;
    // Cut only now and then, so that many small pieces cost no more than one large one.
    if (tail.length > 2 * tailLimit) tail = tail.slice(-tailLimit);
  }

  return {
    write: (bytes) => add(decoder.decode(bytes, { stream: true })),
    end: () => add(decoder.decode()),
    // The blank stands for what follows, so that a pair of surrogates is not split.
    head: () => (length > limit ? headOf(`${head} `, limit) : head),
    tail: () => tail.slice(-tailLimit),
    length: () => length,
  };
}
