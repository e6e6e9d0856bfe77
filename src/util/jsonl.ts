// Lines of JSON as bytes arrive: the line feed is the only separator; a carriage return before it is dropped.

/** A whole line without its end, or the length of one that was too long to keep. */
export type Line = { readonly bytes: Uint8Array } | { readonly tooLong: number };

/** Cuts bytes that come in pieces into lines; for one stream. */
export interface LineSplitter {
  /** The lines that these bytes complete. The memory of the bytes is not kept. */
  push(bytes: Uint8Array): Line[];
  /** What is left when no more will come: a last line that has no end, if there is one. */
  end(): Line[];
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Lines of more than `maxBytes` are passed over; no more than that is ever held. */
export function createLineSplitter(maxBytes: number): LineSplitter {
  let pieces: Uint8Array[] = [];
  let length = 0;

  function keep(piece: Uint8Array): void {
    length += piece.length;
    if (length > maxBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece.slice());
  }

  function finish(last: Uint8Array): Line {
    const total = length + last.length;
    const whole = pieces.length === 0 ? last.slice() : joined(pieces, last, total);
    pieces = [];
    length = 0;
    if (total > maxBytes) return { tooLong: total };
    return { bytes: whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole };
  }

  return {
    push(bytes) {
      const lines: Line[] = [];
      let from = 0;
      for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, from)) {
        lines.push(finish(bytes.subarray(from, at)));
        from = at + 1;
      }
      keep(bytes.subarray(from));
      return lines;
    },
    end: () => (length > 0 ? [finish(new Uint8Array(0))] : []),
  };
}

function joined(pieces: readonly Uint8Array[], last: Uint8Array, total: number): Uint8Array {
  const whole = new Uint8Array(total);
  let at = 0;
  for (const piece of [...pieces, last]) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A whole line as text, one that was too long to keep, or one that is not UTF-8. */
export type TextLine = string | { readonly tooLong: number } | { readonly notUtf8: Uint8Array };

/** Cuts bytes that come in pieces into lines of text; for one stream. */
export interface TextSplitter {
  /** The lines that these bytes complete. The memory of the bytes is not kept. */
  push(bytes: Uint8Array): TextLine[];
  /** A last line that has no end, if there is one. */
  end(): TextLine[];
}

/**
 * The same for lines of UTF-8 as text; characters may come in pieces. Several times as fast as decoding each line by itself: the lines that
 * one piece has in its middle are decoded together.
 */
export function createTextSplitter(maxBytes: number): TextSplitter {
  const splitter = createLineSplitter(maxBytes);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let isHolding = false;

  function toText(line: Line): TextLine {
    if ("tooLong" in line) return line;
    try {
      return decoder.decode(line.bytes);
    } catch {
      return { notUtf8: line.bytes };
    }
  }

  /** Lines that begin and end in `bytes`. */
  function whole(bytes: Uint8Array): TextLine[] {
    if (bytes.length === 0) return [];
    if (bytes.length <= maxBytes) {
      try {
        const lines = decoder.decode(bytes).split("\n");
        lines.pop();
        return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
      } catch {
        // One of them is not UTF-8; which one is seen when each is decoded by itself.
      }
    }
    return splitter.push(bytes).map(toText);
  }

  return {
    push(bytes) {
      const last = bytes.lastIndexOf(lineFeed) + 1;
      const first = isHolding && last > 0 ? bytes.indexOf(lineFeed) + 1 : 0;
      const lines = first > 0 ? splitter.push(bytes.subarray(0, first)).map(toText) : [];
      if (last > first) lines.push(...whole(bytes.subarray(first, last)));
      if (last > 0) isHolding = false;
      if (last < bytes.length) {
        splitter.push(bytes.subarray(last));
        isHolding = true;
      }
      return lines;
    },
    end: () => splitter.end().map(toText),
  };
}
