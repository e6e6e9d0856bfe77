// A session file's bytes → its header and entries, whatever happened to the file: a line that cannot be read costs that line alone.
import type { Entry, SessionHeader } from "../protocol/entry.ts";
import { isHeader, isWhole } from "../protocol/is-whole.ts";
import { createMigration } from "../protocol/migrate.ts";
import { parseLine } from "../protocol/session-line.ts";
import { sessionVersion } from "../protocol/session-version.ts";
import { AppError } from "../util/error.ts";
import { chunksOf, linesOf } from "./lines.ts";

export interface SessionContent {
  /** Undefined when the first line is lost. */
  readonly header: SessionHeader | undefined;
  readonly entries: readonly Entry[];
  /** What each entry was written as; only where `keepLines` asked for it. Those of older versions are written anew. */
  readonly lines: readonly string[];
  /** How many lines could not be read. */
  readonly badLines: number;
  /** Whether the last byte ends a line, so that an append begins a new one. */
  readonly endsWithNewline: boolean;
  /** The version the file was written in. */
  readonly version: number;
}

export interface ReadOptions {
  readonly keepLines?: boolean;
}

/** Reads a file piece by piece. Throws the file system's error. */
export function readSessionFile(path: string, options: ReadOptions = {}): SessionContent {
  return readChunks(chunksOf(path), options);
}

/** What a session's file holds. Throws `AppError` `session` when it cannot be read, or is the file of no session. */
export function loadSession(path: string): SessionContent {
  let content: SessionContent;
  try {
    content = readSessionFile(path);
  } catch (error) {
    throw new AppError("session", `Cannot read the session ${path}: ${(error as Error).message}`, { cause: error });
  }
  if (!content.header && content.entries.length === 0) throw new AppError("session", `${path} is not a session file`);
  return content;
}

/** LF is the only separator; a CR before it is tolerated, and so is a last line without an end. */
export function readSession(bytes: Uint8Array, options: ReadOptions = {}): SessionContent {
  return readChunks([bytes], options);
}

function readChunks(chunks: Iterable<Uint8Array>, { keepLines = false }: ReadOptions): SessionContent {
  let header: SessionHeader | undefined;
  let entries: Entry[] = [];
  let lines: string[] = [];
  let badLines = 0;
  let lastByte: number | undefined;
  function* watched() {
    for (const chunk of chunks) {
      lastByte = chunk.at(-1) ?? lastByte;
      yield chunk;
    }
  }
  for (const line of linesOf(watched())) {
    const { pieces, lost } = parseLine(line);
    badLines += lost;
    for (const { record, text } of pieces) {
      if (record.type === "session") {
        if (!isHeader(record)) badLines++;
        else header ??= record;
      } else {
        entries.push(record as unknown as Entry);
        if (keepLines) lines.push(text);
      }
    }
  }
  // Without a header it is told by the ids, which version 1 had none of.
  const hasIds = entries.some(({ id }) => typeof id === "string");
  const version = header ? (header.version ?? 1) : hasIds || entries.length === 0 ? sessionVersion : 1;
  const migrated = version < sessionVersion ? entries.map(createMigration(version)) : entries;
  const good = migrated.map(isWhole);
  badLines += good.filter((isGood) => !isGood).length;
  if (keepLines && version < sessionVersion) lines = migrated.map((entry) => JSON.stringify(entry));
  if (!good.every(Boolean)) lines = lines.filter((_, i) => good[i]);
  entries = good.every(Boolean) ? migrated : migrated.filter((_, i) => good[i]);
  return { header, entries, lines, badLines, endsWithNewline: lastByte === undefined || lastByte === 0x0a, version };
}
