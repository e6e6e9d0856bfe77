// Files as the model names them: opened so that nothing can block, refused in words the model can act on.
import { constants, type Stats } from "node:fs";
import { access, type FileHandle, lstat, open, readdir, readlink, stat } from "node:fs/promises";
import { normalize } from "node:path";
import * as z from "zod/mini";
import { closest } from "../util/closest.ts";
import { placeOf, realTarget, resolvePath } from "../util/paths.ts";
import { type ToolContext, type ToolError, toolError } from "./tool.ts";

/** The field that names a file, the same in every tool. */
export const filePath = z
  .string()
  .check(z.minLength(1), z.describe("The file, absolute or relative to the working directory"));

/** A text that is looked for in a file or goes into it as it is; half of a surrogate pair would match a part of a character, and become another one. */
export const exactText = z
  .string()
  .check(z.refine((text) => text.isWellFormed(), "must not hold half of a surrogate pair (a character cut in two)"));

/** More is not held in memory. */
const maxWholeBytes = 50 * 1024 * 1024;
/** Folders with more entries than this are not searched for a similar name. */
const maxEntries = 20_000;

/** Where a call's paths are looked for, and may lead. */
export type Where = Pick<ToolContext, "cwd" | "isJudged">;

/** Opens a regular file for reading; throws `ToolError` for anything else. The caller closes it. */
export async function openRegularFile({ cwd, isJudged }: Where, path: string): Promise<FileHandle> {
  const absolute = resolvePath(cwd, path);
  try {
    checkRegular(await stat(absolute), path);
    const file = await open(absolute, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      checkRegular(await file.stat(), path);
      checkJudged(placeOf(file.fd) ?? realTarget(absolute), path, isJudged);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  } catch (error) {
    throw await toFileError(error, "read", cwd, path);
  }
}

/** Where the path really leads, symlinks followed; throws `ToolError` where that cannot be told, in words for what was wanted of it. */
export async function realPath(cwd: string, path: string, verb: "read" | "write" = "read"): Promise<string> {
  try {
    return realTarget(resolvePath(cwd, path));
  } catch (error) {
    throw await toFileError(error, verb, cwd, path);
  }
}

/** Throws `ToolError` for a path that leads elsewhere than when the gate judged it. */
export function checkJudged(real: string, path: string, isJudged: Where["isJudged"]): void {
  if (isJudged?.(real) === false) throw toolError(`${path} has just come to lead elsewhere: ${real}`);
}

/** The whole content of a regular file of at most 50 MB; throws `ToolError`. */
export async function readRegularFile(where: Where, path: string): Promise<Uint8Array> {
  const file = await openRegularFile(where, path);
  try {
    return await readWhole(file, path);
  } catch (error) {
    throw await toFileError(error, "read", where.cwd, path);
  } finally {
    await file.close();
  }
}

/** The whole content of an open file, as `readRegularFile` gives it; throws the file system's errors too. */
export async function readWhole(file: FileHandle, path: string): Promise<Uint8Array> {
  const { size } = await file.stat();
  if (size > maxWholeBytes) throw toolError(`${path} is too large for this tool (${size} bytes); use bash`);
  return await file.readFile();
}

/** Whether there is a regular file to write over; throws `ToolError` where something else stands in the way. */
export async function isExistingFile(cwd: string, path: string): Promise<boolean> {
  if (path.endsWith("/")) throw toolError(`${path} names a folder, not a file`);
  try {
    checkRegular(await stat(resolvePath(cwd, path)), path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw await toFileError(error, "write", cwd, path);
  }
}

/** The text of UTF-8 bytes, a byte order mark kept, so that encoding gives the same bytes again; throws `ToolError` for other bytes. */
export function decodeUtf8(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw notUtf8(path);
  }
}

export function notUtf8(path: string): ToolError {
  return toolError(`${path} is not valid UTF-8`);
}

function checkRegular(stats: Stats, path: string): void {
  if (stats.isFile()) return;
  throw toolError(`${path} is a ${kindWord(stats)}, not a regular file`);
}

/** What something is that is no regular file. */
export function kindWord(stats: Stats): string {
  return stats.isDirectory() ? "directory" : stats.isFIFO() ? "FIFO" : stats.isSocket() ? "socket" : "device";
}

/** A file system error in words for the model; other errors pass as they are. */
export async function toFileError(error: unknown, verb: "read" | "write", cwd: string, path: string): Promise<unknown> {
  if (path.includes("\0")) return toolError("a path cannot contain a NUL character");
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return error;
  if (code === "ENOENT") {
    const target = await readlink(resolvePath(cwd, path)).catch(() => undefined);
    if (target !== undefined) return toolError(`${path} is a symbolic link to ${target}, which does not exist`);
    return toolError(`${path} does not exist${await suggest(cwd, path)}`);
  }
  return toolError(`cannot ${verb} ${path}: ${reasonOf(code)}`);
}

/** Why the file system refused something, by its code. */
export function reasonOf(code: string): string {
  return reasons[code] ?? code;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  ELOOP: "too many symbolic links",
  ENOTDIR: "a part of the path is not a directory",
  EEXIST: "a part of the path is not a directory",
  ENAMETOOLONG: "the name is too long",
  EAGAIN: "it has nothing to read now",
  ESTALE: "something on the way has just been replaced",
};

/**
 * What the path may have been meant to be, each wrong name in it replaced by the nearest one; or which folder is missing. Behind such a name no
 * link is followed: it could lead to where nobody has allowed to look.
 */
async function suggest(cwd: string, path: string): Promise<string> {
  // Without the names that a `..` takes back, which may be of folders elsewhere.
  const given = path.split("/").includes("..") ? normalize(path) : path;
  const names = given.split("/");
  const meant: string[] = [];
  let missing: string | undefined;
  for (const [index, name] of names.entries()) {
    const isLast = index === names.length - 1;
    const isGuess = meant.join("/") !== names.slice(0, index).join("/");
    let found: string | undefined = name;
    if (!(await exists(cwd, [...meant, name].join("/") || "/", isGuess))) {
      if (!isLast) missing ??= names.slice(0, index + 1).join("/");
      const folder = meant.join("/") || (given.startsWith("/") ? "/" : ".");
      found = closest(name, await namesIn(resolvePath(cwd, folder), !isLast));
    }
    if (found === undefined) {
      const near =
        index > 0 && missing !== names.slice(0, index + 1).join("/") ? `; did you mean ${meant.join("/")}/?` : "";
      return missing === undefined ? "" : `, nor does the folder ${missing}${near}`;
    }
    meant.push(found);
  }
  return meant.join("/") === given ? "" : `; did you mean ${meant.join("/")}?`;
}

async function exists(cwd: string, path: string, noLink: boolean): Promise<boolean> {
  const absolute = resolvePath(cwd, path);
  return await (noLink
    ? lstat(absolute).then((stats) => !stats.isSymbolicLink())
    : access(absolute).then(() => true)
  ).catch(() => false);
}

async function namesIn(folder: string, foldersOnly: boolean): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    if (entries.length > maxEntries) return [];
    return entries
      .filter((entry) => !foldersOnly || entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}
