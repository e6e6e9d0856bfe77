// Where a repository begins. Synchronous: this is asked at every start, where the first asynchronous look costs more than all of these.
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";

/** The nearest folder from the absolute `folder` upwards that is a repository's root. */
export function repositoryRoot(folder: string): string | undefined {
  for (let path = folder; ; path = dirname(path)) {
    if (exists(join(path, ".git"))) return path;
    if (dirname(path) === path) return undefined;
  }
}

/** Whether there is anything of this name, a dangling link included. */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
