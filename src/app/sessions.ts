// The sessions of a run: where they lie, and how a new one begins, an old one is found and one becomes another.
import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SessionSummary } from "../session/list.ts";
import type { Session } from "../session/session.ts";
import { createMemorySession, createSession, idInName, type OpenedSession, openSession } from "../session/store.ts";
import type { Environment } from "../util/environment.ts";
import { plural } from "../util/plural.ts";

export { pathTo } from "../protocol/tree.ts";
export type { SessionSummary } from "../session/list.ts";
export { toNodes } from "../session/nodes.ts";
export type { Session } from "../session/session.ts";
export { rowOf } from "../session/title.ts";

export interface SessionFlags {
  /** True for sessions that are not stored. */
  readonly noSession?: boolean | undefined;
  readonly sessionDir?: string | undefined;
}

export interface SessionPlace {
  readonly cwd: string;
  readonly env: Environment;
  /** The program's own folder. */
  readonly home: string;
}

/** What finds, makes and copies sessions for a run in one working directory. Each may throw `AppError` `session`. */
export interface Sessions {
  /** The working directory that new ones begin in. */
  readonly cwd: string;
  /** Of this directory, newest first. */
  list(): Promise<SessionSummary[]>;
  /** By path, id, the beginning of an id, or name. */
  find(query: string): Promise<SessionSummary>;
  open(path: string): OpenedSession;
  /** A new one; it may name the file that it comes from. */
  create(parentSession?: string): Session;
  /** The same session in a file; for one that was kept in memory. */
  store(session: Session): Session;
  /** What `--resume` finds a stored session by, for a program that is started without `--session-dir`: its id where that is enough, else its path. */
  handleOf(session: Session): string;
  /** A new session that begins with the way to an entry; null: with nothing. */
  fork(session: Session, leafId: string | null): Promise<Session>;
}

/** One warning for all lines of a session's file that could not be read; none when nothing was lost. */
export function lossNotes(badLines: number): string[] {
  if (badLines === 0) return [];
  const lines = plural(badLines, "line");
  return [`${lines} of the session could not be read and ${badLines === 1 ? "is" : "are"} left out`];
}

/** The folder of all sessions: `--session-dir`, `$PI_TS_SESSION_DIR` (or pi's own variable), or `sessions` in the program's own folder. */
export function sessionRoot(flags: SessionFlags, { env, home }: SessionPlace): string {
  return resolve(
    flags.sessionDir || env.PI_TS_SESSION_DIR || env.PI_CODING_AGENT_SESSION_DIR || join(home, "sessions"),
  );
}

/** New ones are stored unless `--no-session` says otherwise. */
export function createSessions(flags: SessionFlags, place: SessionPlace): Sessions {
  const { cwd } = place;
  const root = sessionRoot(flags, place);
  const stored = flags.noSession !== true;
  return {
    cwd,
    list: async () => (await import("../session/list.ts")).listSessions(root, cwd),
    find: async (query) => (await import("../session/find.ts")).findSession(root, query, cwd),
    open: openSession,
    create: (parentSession) => (stored ? createSession({ root, cwd, parentSession }) : createMemorySession(cwd)),
    store(session) {
      const entries = session.entries();
      // Without a message there is nothing to store yet.
      return createSession({ root, cwd, id: session.id, entries: entries.some(isMessage) ? entries : [] });
    },
    handleOf: ({ id, path }) => (path === undefined || isFoundById(path, id, sessionRoot({}, place)) ? id : path),
    async fork(session, leafId) {
      const { forkBranch } = await import("../session/fork.ts");
      return forkBranch(session, leafId, { root: session.path === undefined ? undefined : root, cwd });
    },
  };
}

/** Ids are looked for in the names of the files in `root` and its folders. */
function isFoundById(path: string, id: string, root: string): boolean {
  const folder = dirname(path);
  return idInName(path) === id && [folder, dirname(folder)].some((each) => realPathOf(each) === realPathOf(root));
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isMessage({ type }: { readonly type: string }): boolean {
  return type === "message";
}
