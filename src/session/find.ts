// The session that a person means: by path, id, the beginning of an id, or name.
import { type Stats, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Entry } from "../protocol/entry.ts";
import { parseLine } from "../protocol/session-line.ts";
import { nameIn } from "../protocol/tree.ts";
import { AppError } from "../util/error.ts";
import { chunksOf, linesOf } from "./lines.ts";
import { listSessions, type SessionSummary, sessionFiles, summarize } from "./list.ts";
import { titleOf } from "./title.ts";

const shownCandidates = 10;

/**
 * A query with a slash, or that ends in `.jsonl`, is a path (relative to `cwd`) where something is there. Else it is an id or the beginning of
 * one, of any directory's session; else a name or the beginning of one, where those of this directory come first. Throws `AppError` `session`
 * when none or several fit.
 */
export function findSession(root: string, query: string, cwd: string): SessionSummary {
  if (query.trim() === "") throw new AppError("session", "The session's name is empty");
  const path = query.includes("/") || query.endsWith(".jsonl") ? toPath(query, cwd) : undefined;
  const there = path === undefined ? undefined : statIfThere(path);
  if (path !== undefined && there !== undefined) return byPath(path, there);
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
  const what = path === undefined ? `No session has the id or name '${query}'` : `There is no session ${path}`;
  throw new AppError("session", what, {
    hint: "`pi-ts sessions list` shows all there are.",
  });
}

function toPath(query: string, cwd: string): string {
  return isAbsolute(query) ? query : resolve(cwd, query);
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Such as a path through a file.
    return undefined;
  }
}

function byPath(path: string, there: Stats): SessionSummary {
  if (!there.isFile()) throw new AppError("session", `${path} is no file`, { hint: "Name the session's .jsonl file." });
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
  return session.name === undefined ? { ...session, name: nameInside(session.path) } : session;
}

/** The last name that is given anywhere in a file. Only lines that may give one are parsed: all sessions are looked through for a name. */
function nameInside(path: string): string | undefined {
  let name: string | undefined;
  try {
    for (const line of linesOf(chunksOf(path))) {
      if (!Buffer.from(line.buffer, line.byteOffset, line.length).includes('"session_info"')) continue;
      for (const { record } of parseLine(line).pieces) {
        if (record.type === "session_info") name = nameIn([record as unknown as Entry]);
      }
    }
  } catch {
    // One that cannot be read has no name.
  }
  return name;
}

function theOnly(sessions: readonly SessionSummary[], query: string): SessionSummary {
  const [first, ...others] = sessions;
  if (first && others.length === 0) return first;
  const newest = sessions.toSorted((a, b) => b.modified - a.modified);
  const sameId = new Set(sessions.map(({ id }) => id)).size < sessions.length;
  const rows = newest
    .slice(0, shownCandidates)
    .map((session) => `${sameId ? session.path : session.id}  ${titleOf(session)}`);
  const more = sessions.length > shownCandidates ? [`and ${sessions.length - shownCandidates} more`] : [];
  throw new AppError("session", `'${query}' could be any of ${sessions.length} sessions`, {
    hint: [...rows, ...more].join("\n  "),
  });
}
