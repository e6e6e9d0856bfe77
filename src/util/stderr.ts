// Stderr: what is said on it is written at once; where its reader does not keep up it waits, and nothing else does.
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { lazy } from "./lazy.ts";
import { toUtf8 } from "./utf8.ts";

/** How often a reader that does not keep up is tried, in milliseconds. */
const pauseMs = 10;

const waiting: Uint8Array[] = [];
/** How many bytes have been taken so far. */
let taken = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

const target = lazy(() => {
  process.on("exit", writeWaiting);
  return { fd: openUnblocked() };
});

/**
 * An end of the same pipe that says so when it is full. The one that was given is left as it is: others write to it too, and count on it to wait
 * for them. Where there is no such way, as with a file, that one does.
 */
function openUnblocked(): number {
  try {
    if (fstatSync(2).isFIFO()) return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Another system than Linux, another user's pipe, or one without a reader.
  }
  return 2;
}

/** A stderr that is closed or full is no reason to fail. */
export function writeStderr(text: string): void {
  waiting.push(toUtf8(text));
  if (timer === undefined) proceed();
}

function proceed(): void {
  writeWaiting();
  timer = waiting.length > 0 ? setTimeout(proceed, pauseMs) : undefined;
}

function writeWaiting(): void {
  const { fd } = target();
  for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
    try {
      const written = writeSync(fd, next);
      taken += written;
      if (written < next.length) waiting[0] = next.subarray(written);
      else waiting.shift();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return;
      waiting.length = 0;
    }
  }
}

/** Resolves when nothing waits that what goes to stdout next would overtake; with a reader of its own stderr may wait on. */
export async function behindStderr(): Promise<void> {
  if (waiting.length > 0 && isStdoutToo()) await flushStderr(Number.POSITIVE_INFINITY);
}

function isStdoutToo(): boolean {
  try {
    const [stdout, stderr] = [fstatSync(1), fstatSync(2)];
    return stdout.dev === stderr.dev && stdout.ino === stderr.ino;
  } catch {
    return false;
  }
}

/** Resolves when all is written, or the reader has taken nothing for so long: the rest is given up then. */
export async function flushStderr(patienceMs: number): Promise<void> {
  for (let before = -1; waiting.length > 0 && taken !== before; ) {
    before = taken;
    for (let waited = 0; waited < patienceMs && waiting.length > 0 && taken === before; waited += pauseMs)
      await Bun.sleep(pauseMs);
  }
  waiting.length = 0;
}
