// A named pipe for a child's stdin or stdout, where one of the runtime's would be a socket, or read by the runtime at once.
import { closeSync, constants, openSync } from "node:fs";

/** Makes a FIFO and opens both of its ends, which are for the caller to close. */
export function openFifo(path: string): { readonly reader: number; readonly writer: number } {
  Bun.spawnSync(["mkfifo", path]);
  // Opening either end waits for the other one; the first read end does not wait, and lets the others open at once.
  const opener = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, "w");
  const reader = openSync(path, "r");
  closeSync(opener);
  return { reader, writer };
}
