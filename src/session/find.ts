// The session that a person means: by path, id, the beginning of an id, or name.
import { isAbsolute, resolve } from "node:path";
import { AppError } from "../util/error.ts";
import { listSessions, type SessionSummary, sessionFiles, summarize } from "./list.ts";
import { readSessionFile } from "./read.ts";
import { titleOf } from "./title.ts";

const shownCandidates = 10;

/**
 * A query with a slash, or that ends in `.jsonl`, is a path (relative to `cwd`). Else it is an id or the beginning of one, of any directory's
 * session; else a name or the beginning of one, where those of this directory come first. Throws `AppError` `session` when none or several fit.
 */
export function findSession(root: string, query: string, cwd: string): SessionSummary {
  if (query.trim() === "") throw new AppError("session", "The session's name is empty");
  if (query.includes("/") || query.endsWith(".jsonl")) return byPath(query, cwd);
  const files = sessionFiles(root);
  const withId = files.filter(({ id }) => id?.toLowerCase().startsWith(query.toLowerCase()));
  const exact = withId.filter(({ id }) => id === query);
  const fitting = (exact.length > 0 ? exact : withId).flatMap(({ path }) => summarize(path) ?? []);
  if (fitting.length > 0) return theOnly(fitting, query);
  const named = byName(listSessions(root), query, cwd);
  if (named.length > 0) return theOnly(named, query);
  // A name that was given in the middle of a long file is seen by reading it.
  const read = byName(listSessions(root).map(withNameInside), query, cwd);
  if (read.length > 0) return theOnly(read, query);
  throw new AppError("session", `No session has the id or name '${query}'`, {
    hint: "`pi-ts sessions list` shows all there are.",
  });
}

function byPath(query: string, cwd: string): SessionSummary {
  const path = isAbsolute(query) ? query : resolve(cwd, query);
  const summary = summarize(path);
  if (summary) return summary;
  // What is not readable as a session in its head may be in the rest; opening it tells what is wrong with it.
  return {
    id: "",
    path,
    cwd: undefined,
    name: undefined,
    firstText: undefined,
    created: undefined,
    modified: 0,
    size: 0,
    parentSession: undefined,
  };
}

function byName(sessions: readonly SessionSummary[], query: string, cwd: string): SessionSummary[] {
  const wanted = query.trim().toLowerCase();
  const here = sessions.filter((session) => session.cwd === cwd);
  for (const fits of [(name: string) => name === wanted, (name: string) => name.startsWith(wanted)]) {
    for (const group of [here, sessions]) {
      const found = group.filter(({ name }) => name !== undefined && fits(name.toLowerCase()));
      if (found.length > 0) return found;
    }
  }
  return [];
}

function withNameInside(session: SessionSummary): SessionSummary {
  if (session.name !== undefined) return session;
  const info = readSessionFile(session.path).entries.findLast((entry) => entry.type === "session_info");
  return info?.type === "session_info" ? { ...session, name: info.name } : session;
}

function theOnly(sessions: readonly SessionSummary[], query: string): SessionSummary {
  const [first, ...others] = sessions;
  if (first && others.length === 0) return first;
  const newest = sessions.toSorted((a, b) => b.modified - a.modified);
  const rows = newest.slice(0, shownCandidates).map((session) => `${session.id}  ${titleOf(session)}`);
  const more = sessions.length > shownCandidates ? [`and ${sessions.length - shownCandidates} more`] : [];
  throw new AppError("session", `'${query}' could be any of ${sessions.length} sessions`, {
    hint: [...rows, ...more].join("\n  "),
  });
}
