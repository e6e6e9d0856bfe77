// Reading session files: entries one after another, and the conversation of a branch.
import { createReadStream } from "node:fs";
import { decodeEntry } from "../protocol/decode.ts";
import type { Entry, SessionHeader } from "../protocol/entry.ts";
import { isHeader, isWhole } from "../protocol/is-whole.ts";
import type { Message, ThinkingLevel } from "../protocol/message.ts";
import { createMigration } from "../protocol/migrate.ts";
import { parseLine } from "../protocol/session-line.ts";
import { sessionVersion } from "../protocol/session-version.ts";
import * as tree from "../protocol/tree.ts";
import type { OrUnknown } from "../protocol/unknown.ts";
import { createLineSplitter, type Line } from "../util/jsonl.ts";

/** What a model is shown of a branch, and the settings in force at its end. */
export interface ReceivedContext {
  /** In the order that the model sees them. */
  readonly messages: readonly OrUnknown<Message>[];
  /** For each message the id of the entry it came from. */
  readonly entryIds: readonly string[];
  /** Undefined where the branch names none. */
  readonly model: { readonly provider: string; readonly modelId: string } | undefined;
  /** Undefined where the branch names none. */
  readonly thinkingLevel: ThinkingLevel | undefined;
}

/** What `readSession` tells beside the entries. */
export interface ReadSessionOptions {
  /** Told of each line of which something could not be read: how many pieces are lost. */
  readonly onDamage?: ((lost: number) => void) | undefined;
}

/** The longest line that is read; no JSON text can be much longer. */
const maxLineBytes = 512 * 1024 * 1024;

/** The header of a session file; undefined where there is none. Rejects with the file system's error. */
export async function readSessionHeader(path: string): Promise<SessionHeader | undefined> {
  for await (const { pieces } of linesOf(path)) {
    for (const { record } of pieces) return isHeader(record) ? record : undefined;
  }
  return undefined;
}

/**
 * The entries of a session file, in the order they were written; those of versions 1 and 2 as version 3 has them. A line that cannot be read
 * costs that line alone. Nothing more than a line is kept, so a file may be of any size. Throws the file system's error.
 */
export async function* readSession(
  path: string,
  { onDamage }: ReadSessionOptions = {},
): AsyncGenerator<OrUnknown<Entry>, void, void> {
  let header: SessionHeader | undefined;
  let migrate: ReturnType<typeof createMigration> | undefined;
  for await (const { pieces, lost: unread } of linesOf(path)) {
    let lost = unread;
    for (const { record } of pieces) {
      if (record.type === "session") {
        if (isHeader(record)) header ??= record;
        else lost++;
        continue;
      }
      migrate ??= createMigration(versionOf(header, record));
      const entry = migrate(record as Entry);
      if (isWhole(entry)) yield decodeEntry(entry);
      else lost++;
    }
    if (lost > 0) onDamage?.(lost);
  }
}

/** Without a header it is told by the ids, which version 1 had none of. */
function versionOf(header: SessionHeader | undefined, first: object): number {
  if (header) return header.version ?? 1;
  return "id" in first && typeof first.id === "string" ? sessionVersion : 1;
}

async function* linesOf(path: string): AsyncGenerator<ReturnType<typeof parseLine>, void, void> {
  const splitter = createLineSplitter(maxLineBytes);
  const parse = (line: Line) => ("tooLong" in line ? { pieces: [], lost: 1 } : parseLine(line.bytes));
  for await (const bytes of createReadStream(path)) {
    for (const line of splitter.push(bytes as Uint8Array)) yield parse(line);
  }
  for (const line of splitter.end()) yield parse(line);
}

/**
 * The messages of the branch that ends at `leafId` (by default the entry written last; null: none), as a model is shown them: the latest
 * compaction stands for what it summarized, and context edits are applied. An entry of an unknown type adds none. Throws a `RangeError` for
 * a `leafId` that none of the entries has.
 */
export function buildContext(entries: readonly OrUnknown<Entry>[], leafId?: string | null): ReceivedContext {
  // What is unknown in them is passed on as it is.
  const known = entries as readonly Entry[];
  if (typeof leafId === "string" && !known.some(({ id }) => id === leafId)) {
    throw new RangeError(`None of the ${known.length} entries has the id ${leafId}`);
  }
  return tree.buildContext(known, leafId === undefined ? (known.at(-1)?.id ?? null) : leafId) as ReceivedContext;
}
