// Writing a file so that a reader, or the next start after a crash, finds either the old content or the new one, never a part.
import type { Stats } from "node:fs";
import { access, constants, type FileHandle, lstat, mkdir, open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { copyExtendedAttributes } from "./extended-attributes.ts";
import { type HeldFolder, holdFolder, staleError } from "./held-folder.ts";
import { realTarget } from "./paths.ts";
import { discard, removeAbandoned, settle, stage } from "./staging.ts";

/** Why a temporary file or the renaming may be refused where writing in place can still go on; EBUSY is a file that is a mount point. */
const inPlaceCodes = new Set(["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV"]);

export interface WriteOptions {
  /**
   * Called when the new content is safe on disk and only the renaming is left (before the first byte, where the file is written in place);
   * what it throws leaves the file as it was. `target` leads to the file that will be replaced.
   */
  readonly beforeCommit?: (target: string) => Promise<void>;
}

/**
 * Makes `content` the content of the file that the absolute `path` leads to, symlinks kept and missing folders created. An existing
 * file keeps its mode, its extended attributes and ACL (Linux) and, where that is allowed, its owner; a new one follows the umask.
 * The file is written in place, and only there may a kill leave a part, when it has more than one hard link, so that all of them
 * lead to the new content, and when its folder is not writable.
 * Throws the file system's errors; the caller has seen to it that the target is a regular file or nothing.
 */
export async function atomicWrite(path: string, content: Uint8Array, options?: WriteOptions): Promise<void> {
  await replaceFile(realTarget(path), content, options);
}

/** The same for a real path, which is written to and no other: throws ESTALE where a link has taken the place of something on the way (Linux). */
export async function replaceFile(path: string, content: Uint8Array, options: WriteOptions = {}): Promise<void> {
  const folder = await holdOrMake(dirname(path));
  try {
    const target = join(folder.path, basename(path));
    const existing = await statIfThere(target);
    if (existing?.isSymbolicLink()) throw staleError(path);
    if (existing) await access(target, constants.W_OK);
    await commit(target, content, existing, async () => await options.beforeCommit?.(target));
  } finally {
    folder.close();
  }
}

async function holdOrMake(folder: string): Promise<HeldFolder> {
  try {
    return holdFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    await mkdir(folder, { recursive: true });
    return holdFolder(folder);
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function commit(
  target: string,
  content: Uint8Array,
  existing: Stats | undefined,
  beforeCommit: () => Promise<void>,
): Promise<void> {
  if (existing && existing.nlink > 1) return await overwrite(target, content, beforeCommit);
  try {
    await replace(target, content, existing, beforeCommit);
  } catch (error) {
    if (!existing || !inPlaceCodes.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await overwrite(target, content, beforeCommit);
  }
}

async function replace(
  target: string,
  content: Uint8Array,
  existing: Stats | undefined,
  beforeCommit: () => Promise<void>,
): Promise<void> {
  const folder = dirname(target);
  const temporary = stage(folder);
  try {
    // What replaces a private file is never readable for others, not even before it has its mode.
    const file = await open(temporary, "wx", existing ? 0o600 : 0o666);
    try {
      await file.writeFile(content);
      if (existing) await copyAttributes(target, file, existing);
      await file.sync();
    } finally {
      await file.close();
    }
    await beforeCommit();
    await rename(temporary, target);
  } catch (error) {
    discard(temporary);
    throw error;
  }
  settle(temporary);
  await syncFolder(folder);
  await removeAbandoned(folder);
}

/** Owner first, as changing it takes the set-id bits away; these are not given to another owner's file. */
async function copyAttributes(target: string, file: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  let permissions = mode & 0o7777;
  try {
    await file.chown(uid, gid);
  } catch {
    permissions &= 0o777;
  }
  await file.chmod(permissions);
  await copyExtendedAttributes(target, file.fd);
}

/** Makes the renaming itself last; not every file system can. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    await handle.sync().finally(() => handle.close());
  } catch {
    // The content is safe either way.
  }
}

/** Writes into the file as it is; when that fails in the middle, as on a full disk, what has been written over is put back. */
async function overwrite(target: string, content: Uint8Array, beforeCommit: () => Promise<void>): Promise<void> {
  const file = await open(target, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    await beforeCommit();
    const before = new Uint8Array(Math.min(size, content.byteLength));
    await file.read(before, 0, before.length, 0);
    try {
      await writeAll(file, content);
      await file.truncate(content.byteLength);
    } catch (error) {
      await writeAll(file, before);
      await file.truncate(size);
      throw error;
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, content: Uint8Array): Promise<void> {
  let written = 0;
  while (written < content.byteLength) {
    const { bytesWritten } = await file.write(content, written, content.byteLength - written, written);
    written += bytesWritten;
  }
}
