// The sessions on disk, for those who look at them, show them or throw them away without going on in one.
import { rmSync } from "node:fs";
import { homeFolder } from "../config/config.ts";
import type { Message } from "../protocol/message.ts";
import { buildContext, nameIn } from "../protocol/tree.ts";
import { findSession } from "../session/find.ts";
import { listSessions, type SessionSummary } from "../session/list.ts";
import { takeLock } from "../session/lock.ts";
import { loadSession } from "../session/read.ts";
import { AppError } from "../util/error.ts";
import { type SessionPlace, sessionRoot } from "./sessions.ts";

export { timeOf, titleOf } from "../session/title.ts";

export interface StoredSession {
  readonly summary: SessionSummary;
  /** The conversation at its leaf. */
  readonly messages: readonly Message[];
  readonly badLines: number;
}

export type Place = Pick<SessionPlace, "cwd" | "env"> & { readonly sessionDir: string | undefined };

const rootOf = ({ sessionDir, cwd, env }: Place) => sessionRoot({ sessionDir }, { cwd, env, home: homeFolder(env) });

/** Newest first; of this directory, or of all. */
export function listStored(place: Place, everywhere: boolean): SessionSummary[] {
  return listSessions(rootOf(place), everywhere ? undefined : place.cwd);
}

/** Throws `AppError` `session` when none or several fit. */
export function findStored(query: string, place: Place): SessionSummary {
  return findSession(rootOf(place), query, place.cwd);
}

export function readStored(query: string, place: Place): StoredSession {
  const summary = findStored(query, place);
  const { entries, badLines } = loadSession(summary.path);
  return {
    summary: { ...summary, name: nameIn(entries) },
    messages: buildContext(entries, entries.at(-1)?.id ?? null).messages,
    badLines,
  };
}

/** Removes the file of a session that nobody uses; its path. A path may name any file, so it is read first: only a session goes. */
export function removeStored(query: string, place: Place): string {
  const { path } = findStored(query, place);
  loadSession(path);
  try {
    const release = takeLock(path);
    try {
      rmSync(path);
    } finally {
      release();
    }
    return path;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("session", `Cannot remove ${path}: ${(error as Error).message}`, { cause: error });
  }
}
