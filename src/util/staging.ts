// Temporary files that are to take another one's place: each has a name of its own beside its target, and none outlives its writer for long.
import { rmSync } from "node:fs";
import { join } from "node:path";

/** Hidden, and with the time of its making in the first digits of a UUID of version 7. */
const stagedName = /^\.pi-ts-([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f-]{21}\.tmp$/;
/** One older than this belongs to a writer that was killed. */
const abandonedMs = 60 * 60 * 1000;

/** What is left to remove when the process ends in the middle of a write. */
const unfinished = new Set<string>();
let cleansUp = false;

/** The path of a new file in `folder`, to be opened with `wx`; it is removed at the process's end, unless `settle` or `discard` was told of it. */
export function stage(folder: string): string {
  const path = join(folder, `.pi-ts-${Bun.randomUUIDv7()}.tmp`);
  unfinished.add(path);
  if (!cleansUp) {
    cleansUp = true;
    process.on("exit", () => {
      for (const left of unfinished) discard(left);
    });
  }
  return path;
}

/** The file has been renamed or removed. */
export function settle(path: string): void {
  unfinished.delete(path);
}

/** Removes the file, where it was made. Never throws. */
export function discard(path: string): void {
  settle(path);
  try {
    rmSync(path, { force: true });
  } catch {
    // On a file system that cannot be written to there is none.
  }
}

/** Removes what writers that were killed have left in `folder`. */
export async function removeAbandoned(folder: string): Promise<void> {
  try {
    // Loaded here, since it would cost every start a millisecond.
    const { readdir, rm } = await import("node:fs/promises");
    const abandoned = (await readdir(folder)).filter((name) => {
      const made = stagedName.exec(name);
      return made !== null && Number.parseInt(`${made[1]}${made[2]}`, 16) < Date.now() - abandonedMs;
    });
    for (const name of abandoned) await rm(join(folder, name), { force: true });
  } catch {
    // Someone else's folder; the write itself is done.
  }
}
