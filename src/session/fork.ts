// Copies of sessions to go on in: of a whole file, or of the way to one entry. What is copied stays as it was written.
import type { Entry } from "../protocol/entry.ts";
import { pathTo } from "../protocol/tree.ts";
import { AppError } from "../util/error.ts";
import { readSessionFile } from "./read.ts";
import type { Session } from "./session.ts";
import { createMemorySession, createSession, type OpenedSession } from "./store.ts";

export interface ForkOptions {
  /** The folder of all sessions; undefined: the copy is kept in memory. */
  readonly root: string | undefined;
  readonly cwd: string;
  readonly id?: string | undefined;
}

export interface ForkFileOptions {
  readonly root: string;
  /** Where the copy goes on, of where the original began. */
  readonly cwd: (original: string | undefined) => string;
  readonly id?: string | undefined;
}

/** Copies a file, also one that another process is writing to. Throws `AppError` `session`. */
export function forkFile(path: string, { root, id, cwd }: ForkFileOptions): OpenedSession {
  const { header, entries, lines, badLines } = readWhole(path);
  const options = { root, id, cwd: cwd(header?.cwd), parentSession: path, entries, lines };
  return { session: createSession(options), badLines };
}

/** Copies the way to `leafId`; for null or a way without a message, the new session is an empty one, but knows where it is from. */
export function forkBranch(session: Session, leafId: string | null, { root, ...options }: ForkOptions): Session {
  const way = pathTo(session.entries(), leafId);
  const parentSession = session.path;
  if (root === undefined) return createMemorySession(options.cwd, options.id, relink(way));
  if (!way.some(({ type }) => type === "message")) return createSession({ root, ...options, parentSession });
  const written =
    parentSession !== undefined && session.stored() ? linesById(parentSession) : new Map<string, string>();
  const entries = relink(way);
  const lines = entries.map((entry, i) => (entry === way[i] && written.get(entry.id)) || JSON.stringify(entry));
  return createSession({ root, ...options, parentSession, entries, lines });
}

/** Where a parent was lost, the entry before stands in for it. */
function relink(way: readonly Entry[]): Entry[] {
  return way.map((entry, i) => {
    const parentId = way[i - 1]?.id ?? null;
    return entry.parentId === parentId ? entry : { ...entry, parentId };
  });
}

function linesById(path: string): Map<string, string> {
  const { entries, lines } = readWhole(path);
  return new Map(entries.map(({ id }, i) => [id, lines[i] as string]));
}

function readWhole(path: string) {
  let content: ReturnType<typeof readSessionFile>;
  try {
    content = readSessionFile(path, { keepLines: true });
  } catch (error) {
    throw new AppError("session", `Cannot read the session ${path}: ${(error as Error).message}`, { cause: error });
  }
  if (content.entries.length === 0) throw new AppError("session", `${path} is not a session file, or is empty`);
  return content;
}
