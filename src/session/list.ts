// Which sessions there are, without reading them: each is known by the head and the tail of its file.
import { closeSync, type Dirent, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SessionHeader } from "../protocol/entry.ts";
import { isHeader } from "../protocol/is-whole.ts";
import { AppError } from "../util/error.ts";
import { sessionFolder } from "./folder.ts";
import { idInName, nameReach } from "./store.ts";

export interface SessionFile {
  readonly path: string;
  /** From the file's name. */
  readonly id: string | undefined;
}

/** What a listing shows of a session. */
export interface SessionSummary {
  readonly id: string;
  readonly path: string;
  /** The folder it began in; undefined when the header is lost. */
  readonly cwd: string | undefined;
  readonly name: string | undefined;
  /** The beginning of the first thing the user said. */
  readonly firstText: string | undefined;
  /** ISO 8601. */
  readonly created: string | undefined;
  /** When it was last written to, in Unix milliseconds. */
  readonly modified: number;
  /** Of its file, in bytes. */
  readonly size: number;
  readonly parentSession: string | undefined;
}

const headSize = 32 * 1024;
/** The first words of the user are looked for no further than this; a long prompt and many tools stand before them. */
const headLimit = 512 * 1024;
const textLimit = 300;

/**
 * The files of every folder's sessions, and of those that lie in `root` itself, in no order. A root that is missing has none; one that cannot
 * be read is an `AppError` `session`, here and below.
 */
export function sessionFiles(root: string): SessionFile[] {
  return readRoot(root).flatMap((entry) => {
    if (entry.isDirectory()) return filesIn(join(root, entry.name));
    return isSession(entry) ? [toFile(join(root, entry.name))] : [];
  });
}

/** Newest first. With `cwd` only the sessions of that directory. */
export function listSessions(root: string, cwd?: string): SessionSummary[] {
  const files = cwd === undefined ? sessionFiles(root) : filesOf(root, cwd);
  const buffer = Buffer.allocUnsafe(headLimit);
  return files
    .flatMap(({ path }) => summarizeInto(buffer, path) ?? [])
    .filter((summary) => cwd === undefined || summary.cwd === cwd)
    .sort(byNewest);
}

/** The session of this directory that was written to last. */
export function latestSession(root: string, cwd: string): SessionSummary | undefined {
  const files = filesOf(root, cwd);
  const dated = files.map(({ path }) => ({ path, modified: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  for (const { path } of dated.sort(byNewest)) {
    const summary = summarize(path);
    // Different directories may share a folder, since a separator and a hyphen look the same in its name.
    if (summary && (summary.cwd ?? cwd) === cwd) return summary;
  }
  return undefined;
}

/** Undefined for what is no session file. */
export function summarize(path: string): SessionSummary | undefined {
  return summarizeInto(Buffer.allocUnsafe(headLimit), path);
}

function byNewest(a: { path: string; modified: number }, b: { path: string; modified: number }): number {
  return b.modified - a.modified || (a.path < b.path ? 1 : -1);
}

/** Those that may be of the directory `cwd`. */
function filesOf(root: string, cwd: string): SessionFile[] {
  return [...sessionsAmong(readRoot(root), root), ...filesIn(sessionFolder(root, cwd))];
}

function filesIn(folder: string): SessionFile[] {
  try {
    return sessionsAmong(readFolder(folder), folder);
  } catch {
    return [];
  }
}

function sessionsAmong(entries: readonly Dirent[], folder: string): SessionFile[] {
  return entries.filter(isSession).map(({ name }) => toFile(join(folder, name)));
}

function readRoot(root: string): Dirent[] {
  try {
    return readFolder(root);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw new AppError("session", `Cannot read the folder of the sessions ${root}: ${message}`, {
      hint: "--session-dir FOLDER names another one.",
      cause: error,
    });
  }
}

function readFolder(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true });
}

/** By its name; a pipe with such a name would be waited for. */
function isSession(entry: Dirent): boolean {
  return entry.name.endsWith(".jsonl") && (entry.isFile() || entry.isSymbolicLink());
}

function toFile(path: string): SessionFile {
  return { path, id: idInName(path) };
}

function summarizeInto(buffer: Buffer, path: string): SessionSummary | undefined {
  try {
    const fd = openSync(path, "r");
    try {
      return readSummary(buffer, fd, path);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function readSummary(buffer: Buffer, fd: number, path: string): SessionSummary | undefined {
  const { size, mtimeMs: modified } = fstatSync(fd);
  let filled = 0;
  const readOn = (upTo: number) => {
    const length = readSync(fd, buffer, filled, Math.min(upTo, buffer.length) - filled, filled);
    filled += length;
    return length > 0;
  };
  readOn(headSize);
  let head = lookAtHead(buffer.subarray(0, filled));
  while (head.firstText === undefined && filled < Math.min(size, buffer.length) && readOn(filled * 4)) {
    head = lookAtHead(buffer.subarray(0, filled));
  }
  const { header, firstText } = head;
  const id = header?.id ?? idInName(path);
  if (id === undefined || !(header || head.hasEntries)) return undefined;
  let { name } = head;
  if (size > filled) {
    const from = Math.max(filled, size - nameReach);
    const length = readSync(fd, buffer, 0, Math.min(buffer.length, size - from), from);
    name = lastName(buffer.subarray(0, length)) ?? name;
  }
  const [created, parentSession] = [header?.timestamp, header?.parentSession].map(toText);
  return { id, path, cwd: header?.cwd, name: name || undefined, firstText, created, modified, size, parentSession };
}

/** Of a header only what a session cannot be without has been checked. */
function toText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function lookAtHead(bytes: Buffer) {
  let header: SessionHeader | undefined;
  let firstText: string | undefined;
  let hasEntries = false;
  for (let start = 0; start < bytes.length && firstText === undefined; ) {
    const end = bytes.indexOf(0x0a, start);
    const line = bytes.subarray(start, end === -1 ? bytes.length : end);
    start = end === -1 ? bytes.length : end + 1;
    const beginning = line.toString("latin1", 0, 400);
    if (/^\s*\{\s*"type"\s*:\s*"session"/.test(beginning)) {
      const record = parse(line);
      if (record && isHeader(record)) header ??= record;
    } else if (/"parentId"|"timestamp"/.test(beginning)) {
      hasEntries = true;
      if (/"role"\s*:\s*"user"/.test(beginning)) firstText = userText(line);
    }
  }
  return { header, firstText, hasEntries, name: lastName(bytes) };
}

/** The beginning of a user message's text, also from a line that goes on beyond what was read. */
function userText(line: Buffer): string | undefined {
  const beginning = line.toString("utf8", 0, 8 * textLimit);
  const text = /"(?:text|content)"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(beginning)?.[1];
  if (text === undefined) return undefined;
  try {
    // A cut may have left half of an escape or a character at the end.
    const whole = text.slice(0, 4 * textLimit).replace(/(?<!\\)(?:\\\\)*\\(?:u[\da-f]{0,3})?$/i, "");
    return (JSON.parse(`"${whole}"`) as string).slice(0, textLimit).replace(/[\ud800-\udbff\ufffd]+$/, "");
  } catch {
    return undefined;
  }
}

/** The name that the last `session_info` in these bytes gives; undefined when there is none. */
function lastName(bytes: Buffer): string | undefined {
  for (let at = bytes.lastIndexOf('"session_info"'); at > 0; at = bytes.lastIndexOf('"session_info"', at - 1)) {
    const start = bytes.lastIndexOf(0x0a, at) + 1;
    const end = bytes.indexOf(0x0a, at);
    const entry = parse(bytes.subarray(start, end === -1 ? bytes.length : end)) as { type?: string; name?: unknown };
    if (entry?.type === "session_info") return typeof entry.name === "string" ? entry.name : "";
  }
  return undefined;
}

function parse(line: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line.toString("utf8")) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
