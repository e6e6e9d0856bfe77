// Ends an agent whose reader has gone while there is nothing to tell it: a write would fail, but a model or a command can be silent for long.
import { readlinkSync } from "node:fs";
import { type Libc, loadLibc } from "../util/libc.ts";

const everyMs = 1000;
const stdout = 1;
/** POLLERR of a pipe and POLLHUP of a socket, see poll(2). */
const gone = 0x8 | 0x10;

/** Calls `onGone` when nobody can read stdout any more, where it is a pipe or a socket without a name: another reader cannot come. Linux only. */
export function watchReader(onGone: () => void): void {
  const timer = setInterval(async () => {
    const libc = isNameless() ? await loadLibc() : undefined;
    if (libc && !isReaderGone(libc)) return;
    clearInterval(timer);
    if (libc) onGone();
  }, everyMs);
  timer.unref();
}

function isNameless(): boolean {
  try {
    return /^(pipe|socket):/.test(readlinkSync(`/proc/self/fd/${stdout}`));
  } catch {
    return false;
  }
}

function isReaderGone({ poll }: Libc): boolean {
  // A `struct pollfd`: the descriptor, then the events that are asked for (none) and those that there are.
  const request = new Int16Array([stdout, 0, 0, 0]);
  return poll(request, 1, 0) > 0 && ((request[3] ?? 0) & gone) !== 0;
}
