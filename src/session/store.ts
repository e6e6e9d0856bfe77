// The session store: append-only JSONL files, one entry a line and one write each, readable by their owner alone.
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Entry, EntryDraft, SessionHeader } from "../protocol/entry.ts";
import { sessionVersion } from "../protocol/session-version.ts";
import { AppError } from "../util/error.ts";
import { takeLock } from "./lock.ts";
import { readSession } from "./read.ts";
import type { Session } from "./session.ts";

export interface NewSessionOptions {
  /** The folder of all sessions. */
  readonly root: string;
  readonly cwd: string;
  /** Defaults to a UUID of version 7. */
  readonly id?: string | undefined;
  /** The file that this one is forked from. */
  readonly parentSession?: string | undefined;
  /** Entries to begin with, as they are; they are written at once. */
  readonly entries?: readonly Entry[];
}

/** A session that is kept in memory alone. */
export function createMemorySession(cwd: string, id = Bun.randomUUIDv7()): Session {
  return createStored({
    header: newHeader(cwd, id, undefined),
    path: undefined,
    entries: [],
    exists: false,
    open: () => undefined,
  });
}

/** A new session; its file appears with the first message (at once when it begins with entries). */
export function createSession({
  root,
  cwd,
  id = Bun.randomUUIDv7(),
  parentSession,
  entries = [],
}: NewSessionOptions): Session {
  const header = newHeader(cwd, id, parentSession);
  const path = join(sessionFolder(root, cwd), `${header.timestamp.replaceAll(/[:.]/g, "-")}_${id}.jsonl`);
  const open = () => {
    makePrivateFolder(dirname(path));
    const release = takeLock(path);
    const fd = openForAppend(path);
    return { fd, release };
  };
  const session = createStored({ header, path, entries: [], exists: false, open });
  if (entries.length > 0) session.adopt(entries);
  return session;
}

export interface OpenedSession {
  readonly session: Session;
  /** How many lines of the file could not be read. */
  readonly badLines: number;
}

/** Opens an existing file for going on. Throws `AppError` `session`: not there, not readable, no session, or in use. */
export function openSession(path: string): OpenedSession {
  const release = takeLockOf(path);
  try {
    const content = readSession(readFileSync(path));
    const { entries, badLines, endsWithNewline, version } = content;
    if (!content.header && entries.length === 0) throw new AppError("session", `${path} is not a session file`);
    const header = content.header ?? newHeader(process.cwd(), Bun.randomUUIDv7(), undefined);
    if (version < sessionVersion) rewrite(path, { ...header, version: sessionVersion }, entries);
    const fd = openForAppend(path);
    // A line that was cut must not take the next entry with it.
    if (!endsWithNewline && version >= sessionVersion) writeSync(fd, "\n");
    return { session: createStored({ header, path, entries, exists: true, open: () => ({ fd, release }) }), badLines };
  } catch (error) {
    release();
    throw error instanceof AppError ? error : cannot("read", path, error);
  }
}

function takeLockOf(path: string): () => void {
  try {
    closeSync(openSync(path, "r"));
  } catch (error) {
    throw cannot("read", path, error);
  }
  return takeLock(path);
}

/** `<root>/--<path>--`, where `<path>` is the working directory with `-` for its separators. */
export function sessionFolder(root: string, cwd: string): string {
  return join(root, `--${cwd.replace(/^[/\\]/, "").replaceAll(/[/\\:]/g, "-")}--`);
}

function newHeader(cwd: string, id: string, parentSession: string | undefined): SessionHeader {
  const timestamp = new Date().toISOString();
  return { type: "session", version: sessionVersion, id, timestamp, cwd, ...(parentSession ? { parentSession } : {}) };
}

interface OpenFile {
  readonly fd: number;
  readonly release: () => void;
}

interface StoredOptions {
  readonly header: SessionHeader;
  readonly path: string | undefined;
  readonly entries: readonly Entry[];
  /** Whether the file is there already, header and entries in it. */
  readonly exists: boolean;
  /** Opens the file to append to; undefined for one that is not stored. Called once, when there is something to write. */
  readonly open: () => OpenFile | undefined;
}

type StoredSession = Session & { adopt(entries: readonly Entry[]): void };

function createStored({ header, path, entries: existing, exists, open }: StoredOptions): StoredSession {
  const entries: Entry[] = [...existing];
  const ids = new Set(entries.map(({ id }) => id));
  let leaf: string | null = entries.at(-1)?.id ?? null;
  let file: OpenFile | undefined = exists ? open() : undefined;
  /** What is held back until the first message. */
  let pending: string[] = exists ? [] : [toLine(header)];
  let closed = false;

  function newId(): string {
    for (;;) {
      const id = crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, "0");
      if (!ids.has(id)) return id;
    }
  }

  function store(entry: Entry, now: boolean): void {
    pending.push(toLine(entry));
    if (!now || path === undefined) return;
    try {
      file ??= open();
      for (const line of pending) writeLine(file as OpenFile, line);
      pending = [];
    } catch (error) {
      throw error instanceof AppError ? error : cannot("write", path, error);
    }
  }

  function add(entry: Entry): void {
    entries.push(entry);
    ids.add(entry.id);
    leaf = entry.id;
  }

  return {
    id: header.id,
    cwd: header.cwd,
    path,
    entries: () => entries,
    leafId: () => leaf,
    name() {
      const info = entries.findLast((entry) => entry.type === "session_info");
      return info?.type === "session_info" ? info.name : undefined;
    },
    append(draft: EntryDraft) {
      if (closed) throw new AppError("session", "The session is closed");
      const { type, ...rest } = draft;
      const entry = { type, id: newId(), parentId: leaf, timestamp: new Date().toISOString(), ...rest } as Entry;
      store(entry, file !== undefined || entry.type === "message");
      add(entry);
      return entry;
    },
    adopt(given) {
      for (const entry of given) {
        store(entry, true);
        add(entry);
      }
    },
    moveTo(entryId) {
      if (entryId !== null && !ids.has(entryId)) throw new AppError("session", `The session has no entry '${entryId}'`);
      leaf = entryId;
    },
    close() {
      if (closed) return;
      closed = true;
      if (!file) return;
      closeSync(file.fd);
      file.release();
    },
  };
}

function toLine(record: object): string {
  return `${JSON.stringify(record)}\n`;
}

function writeLine({ fd }: OpenFile, line: string): void {
  const bytes = Buffer.from(line);
  // One write a line; only a full disk or a signal makes it come back short.
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset);
}

/** Mode 0600 whatever the umask; an existing file that others could read is closed to them. */
function openForAppend(path: string): number {
  const fd = openSync(path, "a+", 0o600);
  if ((fstatSync(fd).mode & 0o777) !== 0o600) fchmodSync(fd, 0o600);
  return fd;
}

function makePrivateFolder(folder: string): void {
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700);
}

/** Replaces a file of an older version by one of this version, whole or not at all. */
function rewrite(path: string, header: SessionHeader, entries: readonly Entry[]): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, [header, ...entries].map(toLine).join(""), { mode: 0o600 });
  renameSync(temporary, path);
}

function cannot(what: string, path: string, error: unknown): AppError {
  return new AppError("session", `Cannot ${what} the session ${path}: ${(error as Error).message}`, { cause: error });
}
