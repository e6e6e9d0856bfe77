// Files that only their owner may read, whatever the umask is, in folders that only their owner may enter.
import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Makes the folder, and those above it, where they are missing. One that is there already keeps its mode. */
export function makePrivateFolder(path: string): void {
  if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(path, 0o700);
}

/** Makes `text` the whole content of a file at once, and the file its owner's alone even if it was not. Throws the file system's error. */
export function writePrivateFile(path: string, text: string): void {
  makePrivateFolder(dirname(path));
  const staged = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(staged, "w", 0o600);
    try {
      fchmodSync(file, 0o600);
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
    renameSync(staged, path);
  } catch (error) {
    rmSync(staged, { force: true });
    throw error;
  }
}
