// The lines of a session file, from bytes of any size: LF is the only separator.
import { closeSync, openSync, readSync } from "node:fs";

const lineFeed = 0x0a;
const chunkSize = 1 << 20;

/** Each line without its end; a last line without an end too. A line is only good until the next one is asked for. */
export function* linesOf(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  for (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      const rest = chunk.subarray(start, end);
      yield held.length === 0 ? rest : Buffer.concat([...held, rest]);
      held = [];
      start = end + 1;
    }
    if (start < chunk.length) held.push(Buffer.from(chunk.subarray(start)));
  }
  if (held.length > 0) yield held.length === 1 ? (held[0] as Uint8Array) : Buffer.concat(held);
}

/** A file piece by piece, in one buffer that is used again. Throws the file system's error. */
export function* chunksOf(path: string): Generator<Uint8Array> {
  const fd = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(chunkSize);
    for (let size = readSync(fd, buffer); size > 0; size = readSync(fd, buffer)) yield buffer.subarray(0, size);
  } finally {
    closeSync(fd);
  }
}
