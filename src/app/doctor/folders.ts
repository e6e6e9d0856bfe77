// The program's own folder and that of the sessions: there, private, writable, with room, and without locks of programs that are gone.
import { constants, type Stats } from "node:fs";
import { access, lstat, readdir, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sessionFolder } from "../../session/folder.ts";
import { isLeft } from "../../session/lock.ts";
import { plural } from "../../util/plural.ts";
import { discard, stage } from "../../util/staging.ts";
import { sessionRoot } from "../sessions.ts";
import type { Check, Finding } from "./check.ts";

export const homeCheck: Check = {
  name: "home",
  async run({ home, env }) {
    const facts = { path: home, variable: env.PI_TS_HOME ? "PI_TS_HOME" : null };
    const state = await stateOf(home);
    if (state.is === "missing") return { verdict: "ok", text: `${home} is made when it is first needed`, facts };
    const next = "Correct it, or name another folder in $PI_TS_HOME.";
    if (state.is === "unusable") return { verdict: "failure", text: `${home} ${state.problem}`, next, facts };
    if (state.is === "read-only") {
      const text = `${home} ${state.problem}; tasks run, but your answers about projects and what you typed are not kept`;
      return { verdict: "warning", text, next, facts };
    }
    if (await allows(home, 0o022)) {
      const next = `Others could change your configuration: chmod go-w ${home}`;
      return { verdict: "warning", text: `${home} can be written by others`, next, facts };
    }
    return { verdict: "ok", text: home, facts };
  },
};

/** With less room than this, sessions may soon fail to be stored. */
const leastFree = 100e6;

export const sessionsCheck: Check = {
  name: "sessions",
  async run({ sessionDir, cwd, env, home }, signal) {
    const path = sessionRoot({ sessionDir }, { cwd, env, home });
    const next = "Correct it, name another folder with --session-dir, or run with --no-session.";
    const root = await stateOf(path);
    // What is stored from here lies in a folder of its own.
    const folder = root.is === "usable" ? sessionFolder(path, cwd) : path;
    const state = folder === path ? root : await stateOf(folder);
    if ("problem" in state)
      return { verdict: "failure", text: `${folder} ${state.problem}`, next, facts: { path, folder } };
    const free = await freeBytes(root.is === "missing" ? await nearestFolder(path) : path);
    if (root.is === "missing")
      return withRoom({ verdict: "ok", text: `${path} is made with the first session`, facts: { path, free } }, free);
    const { count, open, left } = await lookInto(path, signal);
    const facts = { path, sessions: count, readableByOthers: open.length, leftLocks: left.length, free };
    const text = `${path}: ${plural(count, "session")}, ${gigabytes(free)} free`;
    if (open.length > 0) {
      const what = `${text}; others can read ${open[0]}${open.length > 1 ? ` and ${open.length - 1} more` : ""}`;
      return { verdict: "warning", text: what, next: `chmod -R go= ${path}`, facts };
    }
    const details =
      left.length > 0
        ? [{ name: "locks of programs that are gone", value: `${left.length}`, note: "taken over when needed" }]
        : [];
    return withRoom({ verdict: "ok", text, details, facts }, free);
  },
};

function withRoom(finding: Finding, free: number): Finding {
  if (free >= leastFree) return finding;
  return {
    ...finding,
    verdict: "warning",
    text: `${finding.text}; the disk is almost full`,
    next: "Make room on it, or use another --session-dir.",
  };
}

/** `missing`: it can be made. A `problem` follows the folder's name. */
type FolderState =
  | { readonly is: "usable" | "missing" }
  | { readonly is: "unusable" | "read-only"; readonly problem: string };

async function stateOf(path: string): Promise<FolderState> {
  let stats: Stats;
  try {
    stats = await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      return { is: "unusable", problem: `cannot be used: ${reason(error)}` };
    if (await lstat(path).catch(() => undefined)) return { is: "unusable", problem: "is a link to what is not there" };
    const above = await nearestFolder(path);
    const state = await stateOf(above);
    return "problem" in state
      ? { is: "read-only", problem: `cannot be made: ${above} ${state.problem}` }
      : { is: "missing" };
  }
  if (!stats.isDirectory()) return { is: "unusable", problem: "is no folder" };
  try {
    await access(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    return { is: "unusable", problem: `cannot be read: ${reason(error)}` };
  }
  // Written to for real: a mode says nothing of quotas and of file systems that are read-only.
  const file = stage(path);
  try {
    await writeFile(file, "x", { flag: "wx", mode: 0o600 });
    return { is: "usable" };
  } catch (error) {
    return { is: "read-only", problem: `cannot be written: ${reason(error)}` };
  } finally {
    discard(file);
  }
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : message.replace(/, \w+ '.*$/s, "");
}

/** The nearest of those above it that is there. */
async function nearestFolder(path: string): Promise<string> {
  const parent = dirname(path);
  const isThere = parent === path || (await stat(parent).then(Boolean, ({ code }) => code !== "ENOENT"));
  return isThere ? parent : nearestFolder(parent);
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

interface Contents {
  readonly count: number;
  /** What others may read. */
  readonly open: string[];
  /** Locks whose owner is gone. */
  readonly left: string[];
}

async function lookInto(root: string, signal: AbortSignal): Promise<Contents> {
  const contents = { count: 0, open: [] as string[], left: [] as string[] };
  const folders = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  // Whoever cannot enter a folder reads nothing in it.
  const isRootOpen = await noteOpen(root, contents);
  for (const folder of [root, ...folders.map(({ name }) => join(root, name))]) {
    const isOpen = isRootOpen && (folder === root || (await noteOpen(folder, contents)));
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (signal.aborted) return contents;
      if (!entry.isFile()) continue;
      const path = join(folder, entry.name);
      if (entry.name.endsWith(".lock")) {
        if (isLeft(path)) contents.left.push(path);
      } else if (entry.name.endsWith(".jsonl")) {
        contents.count++;
        if (isOpen) await noteOpen(path, contents);
      }
    }
  }
  return contents;
}

async function noteOpen(path: string, { open }: Contents): Promise<boolean> {
  const isOpen = await allows(path, 0o077);
  if (isOpen) open.push(path);
  return isOpen;
}

/** Whether the mode has one of these bits. On Windows modes say nothing. */
async function allows(path: string, bits: number): Promise<boolean> {
  if (process.platform === "win32") return false;
  const { mode } = (await stat(path).catch(() => undefined)) ?? { mode: 0 };
  return (mode & bits) !== 0;
}

function gigabytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;
}
