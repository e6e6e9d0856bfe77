// The private folder for outputs too long for a result, made when first needed.
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isInside } from "./paths.ts";
import { hasEnded } from "./processes.ts";
import { makeTempFolder, tempPathStart } from "./temp-folder.ts";

const name = "pi-ts-output";
let folder: string | undefined;

/** What the folder's path begins with; six characters follow, others in every run. */
export function outputPathStart(): string {
  return tempPathStart(name);
}

/** Its absolute path, with symlinks resolved. Throws the file system's error. */
export function outputFolder(): string {
  if (folder === undefined || !existsSync(folder)) {
    folder = makeTempFolder(name);
    writeFileSync(join(folder, `${ownerMark}${process.pid}`), "");
    removeAbandoned();
  }
  return folder;
}

/** Whether the real path is one of these outputs, which the model has seen a part of already. */
export function isOutput(realPath: string): boolean {
  return folder !== undefined && isInside(folder, realPath);
}

/** A file in the folder whose name tells the process that it belongs to. */
const ownerMark = ".owner-";
/** One that was written to since may be a process's that cannot be seen from here, as in another container. */
const abandonedMs = 60 * 60 * 1000;

/** Removes what processes that were killed have left. */
function removeAbandoned(): void {
  const start = outputPathStart();
  const parent = dirname(start);
  try {
    for (const entry of readdirSync(parent)) {
      const path = join(parent, entry);
      if (entry.startsWith(basename(start)) && isAbandoned(path)) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // A folder that may not be listed, or what somebody else removes at the same time.
  }
}

function isAbandoned(path: string): boolean {
  try {
    if (statSync(path).mtimeMs > Date.now() - abandonedMs) return false;
    const mark = readdirSync(path).find((entry) => entry.startsWith(ownerMark));
    return mark !== undefined && hasEnded(Number(mark.slice(ownerMark.length)));
  } catch {
    // Another user's.
    return false;
  }
}
