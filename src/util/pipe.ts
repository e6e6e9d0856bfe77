// A pipe of the kernel. Bun gives its children sockets, and what a socket stands behind cannot be opened again:
// on Linux `echo x > /dev/stderr` or `tee /dev/stdout` would fail in every command. A pipe can also be made to hold more, and be read
// in large pieces into memory that is used again.
import { closeSync, readSync } from "node:fs";
import { loadLibc } from "./libc.ts";

export interface Pipe {
  /** For `readPipe`: a read that finds nothing does not wait. */
  readonly readFd: number;
  readonly writeFd: number;
}

/** A reader at work. */
export interface Reading {
  /** Resolves when nobody holds the other end any more, or it cannot be read. */
  readonly ended: Promise<void>;
  /** Looks at once for what has come. */
  hurry(): void;
  /** From now on what comes is read and thrown away: a process that goes on writing must not fail for want of a reader. */
  discard(): void;
}

/** Takes a piece of what was read. The memory is used again as soon as it returns. */
export type Take = (bytes: Uint8Array) => void;

/** Asked before each read: a promise keeps the reader from going on, so that the writer has to wait, until it resolves or `hurry` is called. */
export type Hold = () => Promise<unknown> | undefined;

// See pipe(2) and fcntl(2).
const closeOnExec = 0o2000000;
const nonBlocking = 0o4000;
const setFlags = 4;
const setPipeSize = 1031;
/** What a process without privileges may ask for. */
const pipeSize = 1024 * 1024;
const discardingMs = 500;

/** When a reader looks again that has found nothing. */
export interface Pace {
  /** How long it waits before it looks for the first time, in milliseconds. */
  readonly firstMs: number;
  /** By what the wait grows each time, and how long it gets at most. */
  readonly growth: number;
  readonly longestMs: number;
}

/** Most commands have ended before the first look. */
const commandPace: Pace = { firstMs: 16, growth: 2, longestMs: 32 };

/** A new pipe that no other child inherits; undefined where the system offers none or needs none (macOS). */
export async function createPipe(): Promise<Pipe | undefined> {
  const libc = await loadLibc();
  const fds = new Int32Array(2);
  if (libc?.pipe2(fds, closeOnExec) !== 0) return undefined;
  const [readFd = -1, writeFd = -1] = fds;
  libc.fcntl(readFd, setFlags, nonBlocking);
  // Where the user's pipes together hold too much already, it stays small and works all the same.
  libc.fcntl(readFd, setPipeSize, pipeSize);
  return { readFd, writeFd };
}

/** All readers take turns, so one piece of memory is enough. */
let memory: Uint8Array | undefined;

/**
 * Reads a pipe to its end and closes it. It looks again and again instead of being woken: a writer in full flow fills the pipe in the
 * meantime, so that gigabytes cost a few thousand reads.
 */
export function readPipe(fd: number, take: Take, hold?: Hold, pace: Pace = commandPace): Reading {
  const { promise, resolve } = Promise.withResolvers<void>();
  memory ??= new Uint8Array(pipeSize);
  const piece = memory;
  let waitMs = pace.firstMs;
  let { longestMs } = pace;
  let discarding = false;
  let open = true;
  let isHeld = false;
  let timer: Timer | undefined = setTimeout(turn, waitMs);

  /** Whether the next turn may bring more, or the end: it read something, and has a timer. */
  function turn(): boolean {
    timer = undefined;
    const held = hold?.();
    if (held) {
      isHeld = true;
      void held.then(proceed);
      return false;
    }
    const count = readAvailable(fd, piece);
    if (count === 0) {
      open = false;
      closeSync(fd);
      resolve();
      return false;
    }
    if (count === undefined) waitMs = Math.min(pace.growth * waitMs, longestMs);
    else {
      waitMs = 1;
      if (!discarding) take(piece.subarray(0, count));
    }
    if (count !== undefined && count > piece.length / 2) setImmediate(turn);
    else timer = setTimeout(turn, waitMs);
    return count !== undefined && timer !== undefined;
  }

  function proceed(): void {
    if (isHeld && open) {
      isHeld = false;
      turn();
    }
  }

  return {
    ended: promise,
    hurry() {
      waitMs = 1;
      proceed();
      // Without a timer its next turn is due anyway.
      if (!open || timer === undefined) return;
      clearTimeout(timer);
      if (!turn()) return;
      // Behind what the last writer left is the end.
      clearTimeout(timer);
      turn();
    },
    discard() {
      discarding = true;
      longestMs = discardingMs;
    },
  };
}

/** The number of bytes that were there; 0 at the end, undefined when there are none now. */
function readAvailable(fd: number, piece: Uint8Array): number | undefined {
  try {
    return readSync(fd, piece, 0, piece.length, null);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EAGAIN" || code === "EINTR" ? undefined : 0;
  }
}

/** The same for a stream, where there is no pipe. */
export function readStream(stream: ReadableStream<Uint8Array>, take: Take, hold?: Hold): Reading {
  let discarding = false;
  let hurry = Promise.withResolvers<void>();
  async function read(): Promise<void> {
    for await (const bytes of stream) {
      if (!discarding) take(bytes);
      const held = hold?.();
      if (!held) continue;
      hurry = Promise.withResolvers();
      await Promise.race([held, hurry.promise]);
    }
  }
  return {
    // What cannot be read any more has ended too.
    ended: read().catch(() => {}),
    hurry: () => hurry.resolve(),
    discard() {
      discarding = true;
    },
  };
}
