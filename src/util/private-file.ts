// Files that only their owner may read, whatever the umask is, in folders that only their owner may enter.
import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { discard, settle, stage } from "./staging.ts";

/** Makes the folder, and those above it, where they are missing. One that is there already keeps its mode. */
export function makePrivateFolder(path: string): void {
  if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(path, 0o700);
}

/**
 * Makes `text`, or the pieces of it, the whole content of a file at once, and the file its owner's alone even if it was not.
 * Throws the file system's error.
 */
export function writePrivateFile(path: string, text: string | Iterable<string>): void {
  const folder = dirname(path);
  makePrivateFolder(folder);
  const staged = stage(folder);
  try {
    const file = openSync(staged, "wx", 0o600);
    try {
      fchmodSync(file, 0o600);
      for (const piece of typeof text === "string" ? [text] : text) writeFileSync(file, piece);
    } finally {
      closeSync(file);
    }
    renameSync(staged, path);
  } catch (error) {
    discard(staged);
    throw error;
  }
  settle(staged);
}
