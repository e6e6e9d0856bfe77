// A file in pieces that end with a line, so that one of any size is searched in bounded memory.
import type { FileHandle } from "node:fs/promises";

/**
 * Each call gives the whole text from its beginning, without a byte order mark. A piece is good until the next one is asked for.
 * Just the last piece, and one that is full with a single line, may end without a line break.
 */
export type LinePieces = () => AsyncIterable<Buffer>;

const pieceBytes = 1024 * 1024;
/** A line that is longer goes on in the next piece. */
const maxPieceBytes = 8 * pieceBytes;
const newline = 0x0a;

export function piecesOfBytes(bytes: Buffer): LinePieces {
  return async function* () {
    yield withoutByteOrderMark(bytes);
  };
}

/** The file stays open and is closed by the caller. */
export function piecesOfFile(file: FileHandle): LinePieces {
  return async function* () {
    let buffer = Buffer.allocUnsafe(pieceBytes);
    let held = 0;
    let isFirst = true;
    function piece(end: number): Buffer {
      const bytes = buffer.subarray(0, end);
      const text = isFirst ? withoutByteOrderMark(bytes) : bytes;
      isFirst = false;
      return text;
    }
    for (let position = 0; ; ) {
      const { bytesRead } = await file.read(buffer, held, buffer.length - held, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      held += bytesRead;
      const isFull = held === buffer.length && held >= maxPieceBytes;
      const end = buffer.lastIndexOf(newline, held - 1) + 1 || (isFull ? held : 0);
      if (end > 0) {
        yield piece(end);
        buffer.copyWithin(0, end, held);
        held -= end;
      } else if (held === buffer.length) {
        buffer = Buffer.concat([buffer], 2 * buffer.length);
      }
    }
    if (held > 0) yield piece(held);
  };
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
