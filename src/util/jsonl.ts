// Lines of JSON as bytes arrive: the line feed is the only separator; a carriage return before it is dropped.

/** A whole line without its end, or the length of one that was too long to keep. */
export type Line = { readonly bytes: Uint8Array } | { readonly tooLong: number };

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
