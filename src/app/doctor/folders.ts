// The program's own folder and that of the sessions: there, private, writable, with room, and without locks of programs that are gone.
import { constants, type Stats } from "node:fs";
import { access, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isLeft } from "../../session/lock.ts";
import { settle, stage } from "../../util/staging.ts";
import { sessionRoot } from "../sessions.ts";
import type { Check, Finding } from "./check.ts";

export const homeCheck: Check = {
  name: "home",
  async run({ home, env }) {
    const facts = { path: home, variable: env.PI_TS_HOME ? "PI_TS_HOME" : null };
    const problem = await problemOf(home);
    if (problem === "missing") return { verdict: "ok", text: `${home} is made when it is first needed`, facts };
    if (problem)
      return {
        verdict: "failure",
        text: `${home} ${problem}`,
        next: "Correct it, or name another folder in $PI_TS_HOME.",
        facts,
      };
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
    const problem = await problemOf(path);
    if (problem && problem !== "missing")
      return { verdict: "failure", text: `${path} ${problem}`, next, facts: { path } };
    const free = await freeBytes(problem === "missing" ? await nearestFolder(path) : path);
    if (problem === "missing") {
      const parent = await problemOf(await nearestFolder(path));
      if (parent)
        return {
          verdict: "failure",
          text: `${path} cannot be made: the folder above ${parent}`,
          next,
          facts: { path },
        };
      return withRoom({ verdict: "ok", text: `${path} is made with the first session`, facts: { path, free } }, free);
    }
    const { count, open, left } = await lookInto(path, signal);
    const facts = { path, sessions: count, readableByOthers: open.length, leftLocks: left.length, free };
    const text = `${path}: ${count === 1 ? "1 session" : `${count} sessions`}, ${gigabytes(free)} free`;
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

/** What keeps a folder from being used, in words that follow its name; undefined when it can be read and written. */
async function problemOf(path: string): Promise<string | undefined> {
  let stats: Stats;
  try {
    stats = await stat(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : `cannot be used: ${reason(error)}`;
  }
  if (!stats.isDirectory()) return "is no folder";
  try {
    await access(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    return `cannot be read: ${reason(error)}`;
  }
  // Written to for real: a mode says nothing of quotas and of file systems that are read-only.
  const file = stage(path);
  try {
    await writeFile(file, "x", { flag: "wx", mode: 0o600 });
    return undefined;
  } catch (error) {
    return `cannot be written: ${reason(error)}`;
  } finally {
    await rm(file, { force: true }).catch(() => {});
    settle(file);
  }
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : message.replace(/, \w+ '.*$/s, "");
}

async function nearestFolder(path: string): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return path;
  return (await problemOf(parent)) === "missing" ? nearestFolder(parent) : parent;
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
  for (const folder of [root, ...folders.map(({ name }) => join(root, name))]) {
    await noteOpen(folder, contents);
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (signal.aborted) return contents;
      if (!entry.isFile()) continue;
      const path = join(folder, entry.name);
      if (entry.name.endsWith(".lock")) {
        if (isLeft(path)) contents.left.push(path);
      } else if (entry.name.endsWith(".jsonl")) {
        contents.count++;
        await noteOpen(path, contents);
      }
    }
  }
  return contents;
}

async function noteOpen(path: string, { open }: Contents): Promise<void> {
  if (await allows(path, 0o077)) open.push(path);
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
