// The session store: append-only JSONL files, one entry a line and one write each, readable by their owner alone.
import {
  closeSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Entry, EntryDraft, SessionHeader } from "../protocol/entry.ts";
import { sessionVersion } from "../protocol/session-version.ts";
import { toJson } from "../protocol/to-json.ts";
import { nameIn } from "../protocol/tree.ts";
import { AppError } from "../util/error.ts";
import { makePrivateFolder, writePrivateFile } from "../util/private-file.ts";
import { toUtf8 } from "../util/utf8.ts";
import { sessionFolder } from "./folder.ts";
import { takeLock } from "./lock.ts";
import { loadSession, readSessionFile, type SessionContent } from "./read.ts";
import type { Session } from "./session.ts";

/** How far from a file's end its name may be for a listing, which reads no more than that, to see it. */
export const nameReach = 16 * 1024;

export interface NewSessionOptions {
  /** The folder of all sessions. */
  readonly root: string;
  readonly cwd: string;
  /** Defaults to a UUID of version 7. */
  readonly id?: string | undefined;
  /** The file that this one is forked from. */
  readonly parentSession?: string | undefined;
  /** Entries to begin with, as they are, and the lines to write them as; they are written at once. */
  readonly entries?: readonly Entry[];
  readonly lines?: readonly string[];
}

/** A session that is kept in memory alone. */
export function createMemorySession(cwd: string, id = Bun.randomUUIDv7(), entries: readonly Entry[] = []): Session {
  const header = newHeader(cwd, id, undefined);
  return createStored({ header, path: undefined, entries, exists: false, open: () => undefined });
}

/** A new session; its file appears with the first message (at once when it begins with entries). */
export function createSession(options: NewSessionOptions): Session {
  const { root, cwd, id = Bun.randomUUIDv7(), parentSession, entries = [], lines } = options;
  const header = newHeader(cwd, id, parentSession);
  const path = join(
    sessionFolder(root, cwd),
    `${header.timestamp.replaceAll(":", "-").replaceAll(".", "-")}_${id}.jsonl`,
  );
  const create = () => {
    const release = takeLock(path);
    try {
      return { fd: openForAppend(path), release };
    } catch (error) {
      release();
      throw error;
    }
  };
  const open = () => {
    makePrivateFolder(dirname(path));
    return options.id === undefined ? create() : withUnusedId(dirname(path), options.id, create);
  };
  const session = createStored({ header, path, entries: [], exists: false, open });
  if (entries.length > 0) session.adopt(entries, lines ?? entries.map((entry) => JSON.stringify(entry)));
  return session;
}

/** An id that was chosen may be chosen twice at once, before either has a file: one of both gets it. */
function withUnusedId<Value>(folder: string, id: string, create: () => Value): Value {
  const release = takeLock(join(folder, id));
  try {
    const twin = readdirSync(folder).find((name) => idInName(name) === id);
    if (twin === undefined) return create();
    throw new AppError("session", `There is a session with the id '${id}' already: ${join(folder, twin)}`, {
      hint: `--resume ${id} goes on in it.`,
    });
  } finally {
    release();
  }
}

export interface OpenedSession {
  readonly session: Session;
  /** How many lines of the file could not be read. */
  readonly badLines: number;
}

/** Opens an existing file for going on. Throws `AppError` `session`: not there, not readable, no session, or in use. */
export function openSession(givenPath: string): OpenedSession {
  const path = realPath(givenPath);
  const release = lockExisting(path);
  try {
    const content = loadSession(path);
    const { header, entries, badLines, endsWithNewline, version } = content;
    const whole = header && version >= sessionVersion ? header : repair(path, content);
    const fd = openForAppend(path);
    // A line that was cut must not take the next entry with it.
    if (!endsWithNewline && whole === header) writeSync(fd, "\n");
    const open = () => ({ fd, release });
    return { session: createStored({ header: whole, path, entries, exists: true, open }), badLines };
  } catch (error) {
    release();
    throw error instanceof AppError ? error : cannot("read", path, error);
  }
}

function lockExisting(path: string): () => void {
  try {
    return takeLock(path);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("session", `Cannot lock the session ${path}: ${(error as Error).message}`, {
      hint: "--fork goes on in a copy; --session-dir FOLDER says where that and new sessions are.",
      cause: error,
    });
  }
}

function realPath(path: string): string {
  try {
    const real = realpathSync(path);
    if (!statSync(real).isFile()) throw new AppError("session", `${path} is no file`);
    closeSync(openSync(real, "r"));
    return real;
  } catch (error) {
    throw error instanceof AppError ? error : cannot("read", path, error);
  }
}

/** Replaces a file of an older version, or one that lost its header, by one of this version, whole or not at all. */
function repair(path: string, { header, entries }: SessionContent): SessionHeader {
  const whole = header
    ? { ...header, version: sessionVersion }
    : {
        ...newHeader(process.cwd(), idInName(path) ?? Bun.randomUUIDv7(), undefined),
        timestamp: entries[0]!.timestamp,
      };
  const lines = header?.version === sessionVersion ? [] : readSessionFile(path, { keepLines: true }).lines;
  writePrivateFile(path, [JSON.stringify(whole), ...lines].map((line) => `${line}\n`).join(""));
  return whole;
}

/** The id in a file's name, `<timestamp>_<id>.jsonl`. */
export function idInName(path: string): string | undefined {
  return /_(.+)\.jsonl$/.exec(basename(path))?.[1];
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

type StoredSession = Session & { adopt(entries: readonly Entry[], lines: readonly string[]): void };

function createStored({ header, path, entries: existing, exists, open }: StoredOptions): StoredSession {
  const entries: Entry[] = [...existing];
  const ids = new Set(entries.map(({ id }) => id));
  let leaf: string | null = entries.at(-1)?.id ?? null;
  let file: OpenFile | undefined = exists ? open() : undefined;
  /** What is held back until the first message. */
  const pending: string[] = exists ? [] : [JSON.stringify(header)];
  let appended = false;
  let closed = false;

  function newId(): string {
    for (;;) {
      // Its last digits are random.
      const id = Bun.randomUUIDv7().slice(-8);
      if (!ids.has(id)) return id;
    }
  }

  /** When it cannot be written it is not stored later either. */
  function store(line: string, now: boolean): void {
    if (path === undefined) return;
    pending.push(line);
    if (!now) return;
    try {
      file ??= open();
      for (let next = pending[0]; next !== undefined; next = pending[0]) {
        writeLine((file as OpenFile).fd, next);
        pending.shift();
      }
    } catch (error) {
      pending.pop();
      throw error instanceof AppError ? error : cannot("write", path, error);
    }
  }

  function add(entry: Entry): void {
    entries.push(entry);
    ids.add(entry.id);
    leaf = entry.id;
  }

  /** A listing looks near the end for the name, or for word that it was taken away. */
  function keepNameInReach(fd: number): void {
    if (!entries.some(({ type }) => type === "session_info")) return;
    try {
      const { size } = fstatSync(fd);
      const tail = Buffer.alloc(Math.min(size, nameReach));
      readSync(fd, tail, 0, tail.length, size - tail.length);
      if (!tail.includes('"session_info"')) append({ type: "session_info", name: nameIn(entries) ?? "" });
    } catch {
      // The name is in the file all the same.
    }
  }

  function append(draft: EntryDraft): Entry {
    if (closed) throw new AppError("session", "The session is closed");
    const { type, ...rest } = draft;
    const entry = { type, id: newId(), parentId: leaf, timestamp: new Date().toISOString(), ...rest } as Entry;
    store(toJson(entry), file !== undefined || entry.type === "message");
    add(entry);
    appended = true;
    return entry;
  }

  return {
    header,
    id: header.id,
    cwd: header.cwd,
    path,
    entries: () => entries,
    leafId: () => leaf,
    name: () => nameIn(entries),
    stored: () => file !== undefined,
    append,
    adopt(given, lines) {
      given.forEach((entry, i) => {
        store(lines[i] as string, true);
        add(entry);
      });
    },
    moveTo(entryId) {
      if (entryId !== null && !ids.has(entryId)) throw new AppError("session", `The session has no entry '${entryId}'`);
      leaf = entryId;
    },
    close() {
      if (closed) return;
      if (file && appended) keepNameInReach(file.fd);
      closed = true;
      if (!file) return;
      closeSync(file.fd);
      file.release();
    },
  };
}

/** One write a line; only a full disk or a signal makes it come back short. What was written of a line that failed is taken back. */
function writeLine(fd: number, line: string): void {
  const bytes = toUtf8(`${line}\n`);
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(fd, bytes, written);
  } catch (error) {
    if (written > 0) ftruncateSync(fd, fstatSync(fd).size - written);
    throw error;
  }
}

/** Mode 0600 whatever the umask; an existing file that others could read is closed to them. */
function openForAppend(path: string): number {
  const fd = openSync(path, "a+", 0o600);
  try {
    if ((fstatSync(fd).mode & 0o777) !== 0o600) fchmodSync(fd, 0o600);
  } catch {
    // It is another user's, who let us write to it.
  }
  return fd;
}

function cannot(what: "read" | "write", path: string, error: unknown): AppError {
  return new AppError("session", `Cannot ${what} the session ${path}: ${(error as Error).message}`, {
    hint: what === "write" ? "--session-dir FOLDER stores it elsewhere, --no-session not at all." : undefined,
    cause: error,
  });
}
