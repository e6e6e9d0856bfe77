// Files that a walk came across, read so that nothing can block and no link is followed.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { staleError } from "../../util/held-folder.ts";
import { placeOf } from "../../util/paths.ts";

/** Opens a real path without following a link or waiting for anything; the caller checks what it is, and closes it. */
export async function openPlainFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW);
  if ((placeOf(file.fd) ?? path) === path) return file;
  await file.close();
  throw staleError(path);
}

/** The bytes of a regular file; undefined when it is something else or larger than `maxBytes`. Throws the file system's errors. */
export async function readPlainFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  const file = await openPlainFile(path);
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    // Files of /proc say that they are empty and are not, so there is always room for something.
    const buffer = Buffer.allocUnsafe(Math.max(stats.size, 4096));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    const isWhole = bytesRead === stats.size || (bytesRead < buffer.length && stats.size === 0);
    return isWhole ? buffer.subarray(0, bytesRead) : undefined;
  } finally {
    await file.close();
  }
}
