import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The nearest folder from the absolute `folder` upwards that is a repository's root. */
export async function repositoryRoot(folder: string): Promise<string | undefined> {
  for (let path = folder; ; path = dirname(path)) {
    if (await exists(join(path, ".git"))) return path;
    if (dirname(path) === path) return undefined;
  }
}

/** Whether there is anything of this name, a dangling link included. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
