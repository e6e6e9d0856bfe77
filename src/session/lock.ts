// One writer for one session file: a lock beside it that names its owner, and is taken over when that owner is gone.
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { AppError } from "../util/error.ts";
import { hasEnded, readProcess } from "../util/processes.ts";

export interface Owner {
  readonly pid: number;
  /** When that process started, as its system tells it, so that a pid used again is not taken for the owner. */
  readonly started: string;
}

const attempts = 400;

/**
 * Takes the lock of `path`; the result gives it up, and so does the end of the process unless it is killed. Throws `AppError` `session`
 * naming the pid that holds it, and the file system's error where no lock can be made. At most one of several that find a dead owner's
 * lock at once gets it.
 */
export function takeLock(path: string): () => void {
  const lockPath = `${path}.lock`;
  const holder = acquire(lockPath, { pid: process.pid, started: startOf(process.pid) }, path);
  if (holder) throw inUse(path, holder);
  return held(lockPath);
}

/** Makes `lockPath` ours, or gives the one it belongs to, who runs. `path` is the session that it is about. */
function acquire(lockPath: string, me: Owner, path: string): Owner | undefined {
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (create(lockPath, me)) return undefined;
    const owner = readOwner(lockPath);
    if (owner === "none") continue;
    if (owner === "unreadable") throw cannotLock(path, lockPath);
    if (isAlive(owner)) return owner;
    remove(lockPath, owner, me, path);
  }
  throw cannotLock(path, lockPath);
}

/**
 * Removes a lock whose owner is gone. Only one at a time may: whoever has the lock on removing what this very owner left, and looks again
 * then. So what is removed is never the lock of someone who came in between, not even by one who was slow.
 */
function remove(lockPath: string, owner: Owner | "unknown", me: Owner, path: string): void {
  const guardPath = removalLock(lockPath, owner);
  if (acquire(guardPath, me, path)) {
    Bun.sleepSync(2);
    return;
  }
  try {
    // Without hard links a lock is there a moment before its content.
    if (owner === "unknown") Bun.sleepSync(10);
    if (Bun.deepEquals(readOwner(lockPath), owner)) rmSync(lockPath, { force: true });
  } catch (error) {
    throw cannotLock(path, lockPath, error);
  } finally {
    rmSync(guardPath, { force: true });
  }
}

/** The lock on removing what `owner` has left at `lockPath`; one like others, should its own owner die. */
export function removalLock(lockPath: string, owner: Owner | "unknown"): string {
  return `${lockPath}.${Bun.hash(JSON.stringify(owner)).toString(36)}`;
}

function cannotLock(path: string, lockPath: string, cause?: unknown): AppError {
  const hint = `Remove ${lockPath} if nothing uses it.`;
  return new AppError("session", `Could not lock the session ${path}`, { hint, cause });
}

function held(lockPath: string): () => void {
  const release = () => {
    process.off("exit", release);
    const owner = readOwner(lockPath);
    if (!isOwner(owner) || owner.pid !== process.pid) return;
    try {
      unlinkSync(lockPath);
    } catch {
      // What cannot be removed is taken over by whoever needs it.
    }
  };
  process.on("exit", release);
  return release;
}

function inUse(path: string, { pid }: Owner): AppError {
  return new AppError("session", `The session ${path} is in use by process ${pid}`, {
    hint: "Wait until that one ends, or go on in a copy with --fork.",
  });
}

/** Makes the lock appear with its content at once, so that nobody ever reads half of it; false when there is one already. */
function create(lockPath: string, owner: Owner): boolean {
  const staged = `${lockPath}.${process.pid}`;
  try {
    stage(staged, owner);
    try {
      linkSync(staged, lockPath);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A file system without hard links.
      if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error;
      write(lockPath, owner);
      // Whoever came upon it before its content may have taken it for a dead one's.
      return Bun.deepEquals(readOwner(lockPath), owner);
    } finally {
      unlinkSync(staged);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** In a file of its own; one that an earlier process with this number left is replaced. */
function stage(path: string, owner: Owner): void {
  try {
    write(path, owner);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    unlinkSync(path);
    write(path, owner);
  }
}

/** Whole or, on a full disk, not at all. */
function write(path: string, owner: Owner): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    writeFileSync(fd, JSON.stringify(owner));
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}

type Read = Owner | "none" | "unknown" | "unreadable";

/** `none`: there is no lock; `unknown`: there is one that names nobody; `unreadable`: there is something that may not be read, or is no file. */
function readOwner(lockPath: string): Read {
  let text: string | undefined;
  try {
    text = readRegular(lockPath);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "none" : "unreadable";
  }
  if (text === undefined) return "unreadable";
  try {
    const { pid, started } = JSON.parse(text) as Partial<Owner>;
    // Pid 1 is one like others: in a container it may be this program.
    return isPid(pid) ? { pid, started: String(started ?? "") } : "unknown";
  } catch {
    return "unknown";
  }
}

/** Undefined for what is no regular file; non-blocking, so that a FIFO keeps nobody waiting. */
function readRegular(path: string): string | undefined {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd, "utf8") : undefined;
  } finally {
    closeSync(fd);
  }
}

/** Of what is no number of a process, no system says that it has ended. */
function isPid(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 2 ** 31;
}

function isOwner(owner: Read): owner is Owner {
  return typeof owner === "object";
}

function isAlive(owner: Read): owner is Owner {
  if (!isOwner(owner)) return false;
  const { pid, started } = owner;
  if (hasEnded(pid)) return false;
  const now = startOf(pid);
  return now === "" || started === "" || now === started;
}

/** When a process started; "" where it cannot be told. One that has ended and waits for its parent to notice is gone. */
function startOf(pid: number): string {
  const found = readProcess(pid);
  if (!found) return "";
  return found.alive ? found.started : "ended";
}

/** Whether there is a lock whose owner is gone, to be taken over by whoever needs it. */
export function isLeft(lockPath: string): boolean {
  const owner = readOwner(lockPath);
  return owner !== "none" && owner !== "unreadable" && !isAlive(owner);
}
