// Writing a file so that a reader, or the next start after a crash, finds either the old content or the new one, never a part.

import type { Stats } from "node:fs";
import { access, constants, type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { realTarget } from "./paths.ts";

/** Why a temporary file or the renaming may be refused where writing in place can still go on; EBUSY is a file that is a mount point. */
const inPlaceCodes = new Set(["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV"]);

/**
 * Makes `content` the content of the file that the absolute `path` leads to, symlinks kept and missing folders created. An existing
 * file keeps its mode and, where that is allowed, its owner; a new one follows the umask. Where the folder is not writable,
 * the file is written in place. Throws the file system's errors; the caller has seen to it that the target is a regular file or nothing.
 */
export async function atomicWrite(path: string, content: Uint8Array): Promise<void> {
  const target = realTarget(path);
  const existing = await statIfThere(target);
  if (existing) await access(target, constants.W_OK);
  else await mkdir(dirname(target), { recursive: true });
  try {
    await replace(target, content, existing);
  } catch (error) {
    if (!existing || !inPlaceCodes.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await overwrite(target, content);
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function replace(target: string, content: Uint8Array, existing: Stats | undefined): Promise<void> {
  const folder = dirname(target);
  const temporary = join(folder, `.pi-ts-${Bun.randomUUIDv7()}.tmp`);
  const file = await open(temporary, "wx");
  try {
    try {
      await file.writeFile(content);
      if (existing) await copyAttributes(file, existing);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** Owner first, as changing it takes the set-id bits away; these are not given to another owner's file. */
async function copyAttributes(file: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  let permissions = mode & 0o7777;
  try {
    await file.chown(uid, gid);
  } catch {
    permissions &= 0o777;
  }
  await file.chmod(permissions);
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

async function overwrite(target: string, content: Uint8Array): Promise<void> {
  const file = await open(target, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    await file.writeFile(content);
    await file.truncate(content.byteLength);
    await file.sync();
  } finally {
    await file.close();
  }
}
