// Which session a run goes on in.
import { join } from "node:path";
import type { Environment } from "../config/config.ts";
import type { Session } from "../session/session.ts";
import { createMemorySession, createSession } from "../session/store.ts";

export interface SessionFlags {
  /** False for a session that is not stored. */
  readonly session?: boolean | undefined;
  readonly sessionDir?: string | undefined;
}

export interface SessionPlace {
  readonly cwd: string;
  readonly env: Environment;
  /** The program's own folder. */
  readonly home: string;
}

/** The folder of all sessions: `--session-dir`, `$PI_TS_SESSION_DIR`, or `sessions` in the program's own folder. */
export function sessionRoot(flags: SessionFlags, { env, home }: SessionPlace): string {
  return flags.sessionDir ?? (env.PI_TS_SESSION_DIR || undefined) ?? join(home, "sessions");
}

/** A new session, stored unless `--no-session` says otherwise. */
export function newSession(flags: SessionFlags, place: SessionPlace): Session {
  if (flags.session === false) return createMemorySession(place.cwd);
  return createSession({ root: sessionRoot(flags, place), cwd: place.cwd });
}
