// A folder held open, so that its entries are reached whatever takes the place of its name, or of one on the way to it.
import { closeSync, constants, openSync } from "node:fs";
import { placeOf } from "./paths.ts";

export interface HeldFolder {
  /** Leads to the folder until it is closed. */
  readonly path: string;
  close(): void;
}

/** See open(2): no right to list the folder is needed. */
const pathOnly = 0o10000000;

/**
 * For a folder's real path. Only Linux has such paths; elsewhere it is the folder's own.
 * Throws the file system's errors, and ESTALE when the path leads elsewhere by now.
 */
export function holdFolder(folder: string): HeldFolder {
  const unheld = { path: folder, close: () => {} };
  if (process.platform !== "linux") return unheld;
  const fd = openSync(folder, constants.O_DIRECTORY | pathOnly);
  const place = placeOf(fd);
  if (place === folder) return { path: `/proc/self/fd/${fd}`, close: () => closeSync(fd) };
  closeSync(fd);
  if (place === undefined) return unheld;
  throw staleError(folder);
}

export function staleError(path: string): Error {
  return Object.assign(new Error(`ESTALE: ${path} leads elsewhere by now`), { code: "ESTALE", syscall: "open", path });
}
