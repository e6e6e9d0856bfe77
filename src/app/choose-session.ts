// Which session a run goes on in, where a flag says more than "a new one".
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { findSession } from "../session/find.ts";
import { forkFile } from "../session/fork.ts";
import { latestSession, listSessions, type SessionSummary, sessionFiles, summarize } from "../session/list.ts";
import type { Session } from "../session/session.ts";
import { createMemorySession, createSession, openSession } from "../session/store.ts";
import { AppError } from "../util/error.ts";
import { isSameFile } from "../util/paths.ts";
import { lossNotes, type SessionFlags, type SessionPlace, sessionRoot } from "./sessions.ts";

export interface SessionChoice extends SessionFlags {
  /** The latest session of this directory. */
  readonly continue?: boolean | undefined;
  /** A path, an id or its beginning, or a name; "": the user picks one. */
  readonly resume?: string | undefined;
  /** A copy of the session goes on; with a value, of the one that it names. */
  readonly fork?: string | undefined;
  /** Of a new session, or of one of this directory that goes on. */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

export interface ChosenSession {
  readonly session: Session;
  /** Where the run works: the folder the session began in, unless that is gone. */
  readonly cwd: string;
  /** What the user should know of it. */
  readonly notes: readonly string[];
}

/** Asks the user; undefined when nobody can be asked. */
export type PickSession = ((sessions: readonly SessionSummary[]) => Promise<SessionSummary | undefined>) | undefined;

/** Throws `AppError` `usage` for flags that exclude each other, `session` when there is no such session or it is in use. */
export async function chooseSession(
  choice: SessionChoice,
  place: SessionPlace,
  pick: PickSession,
): Promise<ChosenSession> {
  checkChoice(choice);
  const name = choice.name?.trim();
  const root = sessionRoot(choice, place);
  const found = await find(choice, root, place, pick);
  const chosen = found ? goOn(found, choice, root, place) : begin(choice, root, place);
  if (name !== undefined && name !== chosen.session.name()) chosen.session.append({ type: "session_info", name });
  return chosen;
}

function checkChoice(choice: SessionChoice): void {
  const { resume, fork, id, name } = choice;
  const goesOn = choice.continue || resume !== undefined;
  if (choice.continue && resume !== undefined) throw excludes("--continue", "--resume");
  if (fork !== undefined && fork !== "" && goesOn) {
    throw usage(
      `--fork takes no value beside --continue or --resume, but it has '${fork}'`,
      "A task goes before --fork, or after `--`.",
    );
  }
  if (fork === "" && !goesOn)
    throw usage("--fork needs a session", "Add --continue, --resume ID, or name the session: --fork ID.");
  if (choice.noSession && (goesOn || fork !== undefined)) throw excludes("--no-session", "a session to go on in");
  if (id !== undefined && goesOn && fork === undefined)
    throw usage("--session-id is for a new session", "Leave it out, or add --fork.");
  // It becomes part of a file's name.
  if (id !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(id)) {
    throw usage(
      `'${id}' cannot be a session's id`,
      "Use up to 100 letters, digits, dots, hyphens and underscores, a letter or digit first.",
    );
  }
  if (name !== undefined && name.trim() === "") throw usage("--name needs a name", "Such as --name 'the parser'.");
}

async function find(
  choice: SessionChoice,
  root: string,
  place: SessionPlace,
  pick: PickSession,
): Promise<string | undefined> {
  if (choice.continue) {
    const latest = latestSession(root, place.cwd);
    if (latest) return latest.path;
    throw new AppError("session", `There is no session of ${place.cwd} to continue`, {
      hint: "`pi-ts sessions list` shows those of all directories.",
    });
  }
  const query = choice.resume ?? (choice.fork || undefined);
  if (query === undefined)
    return choice.noSession || choice.id === undefined ? undefined : withId(choice.id, root, place);
  if (query !== "") return findSession(root, query, place.cwd).path;
  const picked = await pickOne(listSessions(root, place.cwd), place, pick);
  return picked.path;
}

/** The session of this directory that has the whole id. */
function withId(id: string, root: string, { cwd }: SessionPlace): string | undefined {
  const files = sessionFiles(root).filter((file) => file.id === id);
  return files.find(({ path }) => summarize(path)?.cwd === cwd)?.path;
}

async function pickOne(sessions: readonly SessionSummary[], { cwd }: SessionPlace, pick: PickSession) {
  if (!pick) {
    throw usage(
      "--resume without a value needs a terminal to pick a session on",
      "Name one: --resume ID; `pi-ts sessions list` shows them.",
    );
  }
  if (sessions.length === 0) {
    throw new AppError("session", `There is no session of ${cwd} to resume`, {
      hint: "`pi-ts sessions list` shows those of all directories.",
    });
  }
  const picked = await pick(sessions);
  if (picked) return picked;
  throw new AppError("session", "No session was picked");
}

function goOn(path: string, choice: SessionChoice, root: string, place: SessionPlace): ChosenSession {
  const notes: string[] = [];
  let cwd = place.cwd;
  const settle = (began: string | undefined): string => {
    if (began === undefined || began === place.cwd || isSameFile(began, place.cwd)) return cwd;
    if (isFolder(began)) {
      cwd = began;
      notes.push(`Going on in ${began}, where the session began`);
    } else notes.push(`The session's folder ${began} is gone; going on in ${cwd}`);
    return cwd;
  };
  if (choice.fork !== undefined) {
    if (choice.id !== undefined) checkUnused(choice.id, root);
    const { session, badLines } = forkFile(path, { root, cwd: settle, id: choice.id });
    return { session, cwd, notes: [...notes, ...lossNotes(badLines)] };
  }
  const { session, badLines } = openSession(path);
  settle(session.cwd);
  return { session, cwd, notes: [...notes, ...lossNotes(badLines)] };
}

function begin({ noSession, id }: SessionChoice, root: string, { cwd }: SessionPlace): ChosenSession {
  if (noSession) return { session: createMemorySession(cwd, id), cwd, notes: [] };
  if (id !== undefined) checkUnused(id, root);
  return { session: createSession({ root, cwd, id }), cwd, notes: [] };
}

function checkUnused(id: string, root: string): void {
  if (!sessionFiles(root).some((file) => file.id === id)) return;
  throw new AppError("session", `There is a session with the id '${id}' already`, {
    hint: `--resume ${id} goes on in it, wherever it began.`,
  });
}

function isFolder(path: string): boolean {
  return isAbsolute(path) && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

function excludes(one: string, other: string): AppError {
  return usage(`${one} and ${other} exclude each other`, "Choose one of them.");
}

function usage(message: string, hint: string): AppError {
  return new AppError("usage", message, { hint });
}
