// One writer for one session file: a lock beside it that names its owner, and is taken over when that owner is gone.
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { AppError } from "../util/error.ts";

interface Owner {
  readonly pid: number;
  /** When that process started, as its system tells it, so that a pid used again is not taken for the owner. */
  readonly started: string;
}

/** Takes the lock of `path`; the result gives it up. Throws `AppError` `session` naming the pid that holds it. */
export function takeLock(path: string): () => void {
  const lockPath = `${path}.lock`;
  for (let attempt = 0; attempt < 5; attempt++) {
    if (create(lockPath)) return () => release(lockPath);
    const owner = readOwner(lockPath);
    if (owner && isAlive(owner)) {
      throw new AppError("session", `The session ${path} is in use by process ${owner.pid}`, {
        hint: "Wait until that one ends, or go on in a copy with --fork.",
      });
    }
    rmSync(lockPath, { force: true });
  }
  throw new AppError("session", `Could not lock ${lockPath}`);
}

function create(lockPath: string): boolean {
  try {
    const fd = openSync(lockPath, "wx", 0o600);
    writeSync(fd, JSON.stringify({ pid: process.pid, started: startOf(process.pid) } satisfies Owner));
    closeSync(fd);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new AppError("session", `Could not lock the session: ${(error as Error).message}`, { cause: error });
  }
}

function release(lockPath: string): void {
  if (readOwner(lockPath)?.pid === process.pid) rmSync(lockPath, { force: true });
}

function readOwner(lockPath: string): Owner | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(lockPath, "utf8")) as Partial<Owner>;
    return typeof pid === "number" && pid > 1 ? { pid, started: String(started) } : undefined;
  } catch {
    return undefined;
  }
}

function isAlive({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const now = startOf(pid);
  return now === "" || started === "" || now === started;
}

/** The start time of a process in clock ticks since boot (Linux: /proc/<pid>/stat, field 22, see proc(5)); "" where it cannot be told. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
