// A session file's bytes → its header and entries, whatever happened to the file: a line that cannot be read costs that line alone.
import type { Entry, SessionHeader } from "../protocol/entry.ts";

export interface SessionContent {
  /** Undefined when the first line is lost. */
  readonly header: SessionHeader | undefined;
  readonly entries: readonly Entry[];
  /** How many lines could not be read. */
  readonly badLines: number;
  /** Whether the last byte ends a line, so that an append begins a new one. */
  readonly endsWithNewline: boolean;
  /** The version the file was written in. */
  readonly version: number;
}

const lineFeed = 0x0a;

/** LF is the only separator; a CR before it is tolerated, and so is a last line without an end. */
export function readSession(bytes: Uint8Array): SessionContent {
  let header: SessionHeader | undefined;
  const entries: Entry[] = [];
  let badLines = 0;
  for (const line of lines(bytes)) {
    const record = parseLine(line);
    if (record === "blank") continue;
    if (record === undefined) badLines++;
    else if (record.type === "session") header ??= record as unknown as SessionHeader;
    else entries.push(record as unknown as Entry);
  }
  const version = header?.version ?? (entries.some(({ id }) => typeof id !== "string") ? 1 : 3);
  const migrated = migrate(entries, version);
  return {
    header,
    entries: migrated.entries,
    badLines: badLines + migrated.dropped,
    endsWithNewline: bytes.length === 0 || bytes.at(-1) === lineFeed,
    version,
  };
}

function* lines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, start);
    yield bytes.subarray(start, end === -1 ? bytes.length : end);
    start = end === -1 ? bytes.length : end + 1;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function parseLine(line: Uint8Array): { type: string } | "blank" | undefined {
  try {
    const text = decoder.decode(line);
    if (text.trim() === "") return "blank";
    const value: unknown = JSON.parse(text);
    const isRecord = typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
    return isRecord ? (value as { type: string }) : undefined;
  } catch {
    return undefined;
  }
}

/** Version 1 had no ids: each entry followed the one before. Version 2 called custom messages by another role. */
function migrate(entries: readonly Entry[], version: number): { entries: Entry[]; dropped: number } {
  const linear = version < 2 ? toTree(entries) : entries;
  const whole = linear.filter(isWhole);
  return { entries: version < 3 ? whole.map(renameRole) : whole, dropped: linear.length - whole.length };
}

/** Whether an entry has what places it in the tree, and a message what makes it one. */
function isWhole(entry: Entry): boolean {
  const placed = typeof entry.id === "string" && (entry.parentId === null || typeof entry.parentId === "string");
  if (!placed) return false;
  if (entry.type !== "message") return true;
  const message: unknown = entry.message;
  return typeof message === "object" && message !== null && "role" in message && typeof message.role === "string";
}

function toTree(entries: readonly Entry[]): Entry[] {
  const ids = entries.map((entry, position) => entry.id ?? position.toString(16).padStart(8, "0"));
  return entries.map((entry, position) => {
    const placed = { ...entry, id: ids[position] as string, parentId: ids[position - 1] ?? null };
    const keptIndex = (entry as { firstKeptEntryIndex?: number }).firstKeptEntryIndex;
    if (placed.type !== "compaction" || keptIndex === undefined) return placed;
    // Version 1 counted lines, the header among them.
    const { firstKeptEntryIndex: _, ...rest } = placed as typeof placed & { firstKeptEntryIndex?: number };
    return { ...rest, firstKeptEntryId: ids[keptIndex - 1] ?? placed.id } as Entry;
  });
}

function renameRole(entry: Entry): Entry {
  if (entry.type !== "message" || (entry.message.role as string) !== "hookMessage") return entry;
  return { ...entry, message: { ...entry.message, role: "custom" } } as Entry;
}
