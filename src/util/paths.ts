// Paths as the tools and the gate see them: resolved against the working directory, symlinks followed, compared by component.
import { fstatSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { homeDirectory } from "./home.ts";

/** An absolute path for what a model or user wrote; a leading `~/` is the home directory. */
export function resolvePath(cwd: string, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homeDirectory(), path.slice(1));
  return resolve(cwd, path);
}

/**
 * Where an absolute path really leads: every symlink followed, also a dangling one, also when the end of the path does not exist, or cannot.
 * Throws the file system's error for a loop of links or a folder that may not be searched.
 */
export function realTarget(path: string, hops = 0): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if ((code !== "ENOENT" && code !== "ENOTDIR") || hops > 40) throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const target = readLink(path);
  if (target !== undefined) return realTarget(resolve(realTarget(parent, hops), target), hops + 1);
  return join(realTarget(parent, hops), basename(path));
}

function readLink(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

const deleted = " (deleted)";

/** The real path of an open file or folder; undefined where the system does not tell, which only Linux does. */
export function placeOf(fd: number): string | undefined {
  try {
    const place = readlinkSync(`/proc/self/fd/${fd}`);
    // Linux says it behind the path of what was removed meanwhile, and a name may end so too.
    return place.endsWith(deleted) && fstatSync(fd).nlink === 0 ? place.slice(0, -deleted.length) : place;
  } catch {
    return undefined;
  }
}

/** Whether `path` is `root` or below it, by component; both absolute and resolved. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Whether both lead to one file or folder; false where it is not there. Relative paths are those of the process. */
export function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
