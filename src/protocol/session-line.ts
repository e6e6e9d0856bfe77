// A line of a session file → the records in it. A line is one record, unless something happened to the file: what stands behind a fragment
// or a block of NULs, or is glued to the record before it, is found all the same.

/** A record and the text it was written as. */
export interface Piece {
  readonly record: { readonly type: string };
  readonly text: string;
}

export interface ParsedLine {
  readonly pieces: readonly Piece[];
  /** How many pieces of the line could not be read. */
  readonly lost: number;
}

const decoder = new TextDecoder("utf-8", { fatal: true });
const blank: ParsedLine = { pieces: [], lost: 0 };

export function parseLine(bytes: Uint8Array): ParsedLine {
  if (bytes.length === 0) return blank;
  const piece = parsePiece(bytes);
  if (piece === "blank") return blank;
  return piece ? { pieces: [piece], lost: 0 } : salvage(bytes);
}

function parsePiece(bytes: Uint8Array): Piece | "blank" | undefined {
  try {
    const text = decoder.decode(bytes);
    const first = text.charCodeAt(0);
    if ((first === 0x20 || first === 0x0d || first === 0x09) && text.trim() === "") return "blank";
    const record: unknown = JSON.parse(text);
    const isRecord =
      typeof record === "object" && record !== null && "type" in record && typeof record.type === "string";
    return isRecord
      ? { record: record as Piece["record"], text: text.endsWith("\r") ? text.slice(0, -1) : text }
      : undefined;
  } catch {
    return undefined;
  }
}

/** How every entry begins, and nothing inside one: quotes in a string are escaped, and no block has a parent. */
const entryStart = /\{\s*"type"\s*:\s*"\w+"\s*,\s*"id"\s*:\s*"[^"\\]{1,64}"\s*,\s*"parentId"\s*:/g;

function salvage(bytes: Uint8Array): ParsedLine {
  // One character a byte, so that positions in the text are positions in the bytes.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const starts = [0, ...[...text.matchAll(entryStart)].map(({ index }) => index).filter((index) => index > 0)];
  const pieces: Piece[] = [];
  let lost = 0;
  starts.forEach((start, i) => {
    const end = starts[i + 1] ?? bytes.length;
    const [from, to] = trimNuls(bytes, start, end);
    const piece = to > from ? parsePiece(bytes.subarray(from, to)) : "blank";
    if (piece === undefined || to - from < end - start) lost++;
    if (piece !== undefined && piece !== "blank") pieces.push(piece);
  });
  return { pieces, lost };
}

function trimNuls(bytes: Uint8Array, start: number, end: number): [number, number] {
  let [from, to] = [start, end];
  while (from < to && bytes[from] === 0) from++;
  while (to > from && bytes[to - 1] === 0) to--;
  return [from, to];
}
