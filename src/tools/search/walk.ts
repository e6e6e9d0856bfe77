// A folder's tree in order: sorted by path, component by component, as bytes. Links are named and not followed.
import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { holdFolder } from "../../util/held-folder.ts";
import { type IgnoreRules, rulesAbove } from "./ignore-rules.ts";
import type { SearchRoot } from "./search-root.ts";

export interface TreeEntry {
  /** Below the root, with forward slashes. */
  readonly path: string;
  readonly name: string;
  readonly kind: EntryKind;
}

export type EntryKind = "file" | "folder" | "link" | "special";

export interface WalkOptions {
  /** Names that begin with a dot too; never `.git`. */
  readonly includeHidden: boolean;
  /** Told of folders that cannot be read; they are passed over. */
  readonly onUnreadable: (path: string, error: unknown) => void;
  readonly signal: AbortSignal;
}

interface Level {
  /** Below the root, with a slash behind it; empty for the root itself. */
  readonly path: string;
  readonly entries: readonly Dirent[];
  readonly rules: IgnoreRules;
  at: number;
}

/** Every entry that is not hidden or ignored, a folder before what is in it. Throws when the root cannot be read or the signal fires. */
export async function* walkTree(root: SearchRoot, options: WalkOptions): AsyncGenerator<TreeEntry> {
  const open = async (path: string, outer: IgnoreRules): Promise<Level> => {
    const folder = resolve(root.real, path);
    const entries = await sortedEntries(folder);
    return { path, entries, rules: await outer.enter(folder, new Set(entries.map(({ name }) => name))), at: 0 };
  };
  const levels = [await open("", await rulesAbove(root.top, root.real))];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    options.signal.throwIfAborted();
    const entry = level.entries[level.at++];
    if (!entry) {
      levels.pop();
      continue;
    }
    const { name } = entry;
    if (name === ".git" || (name.startsWith(".") && !options.includeHidden)) continue;
    const path = level.path + name;
    const absolute = join(root.real, path);
    const kind = await kindOf(entry, absolute);
    if (level.rules.isIgnored(absolute, name, kind === "folder")) continue;
    yield { path, name, kind };
    if (kind !== "folder") continue;
    try {
      levels.push(await open(`${path}/`, level.rules));
    } catch (error) {
      options.onUnreadable(path, error);
    }
  }
}

/** The entries of a folder, by its real path, in the order of their names' bytes. */
export async function sortedEntries(folder: string): Promise<Dirent[]> {
  const held = holdFolder(folder);
  try {
    const entries = await readdir(held.path, { withFileTypes: true });
    return entries.sort((a, b) => compareBytes(a.name, b.name));
  } finally {
    held.close();
  }
}

/** UTF-16 has another order than UTF-8 only where surrogates meet what is above them. */
function compareBytes(a: string, b: string): number {
  if (/[\ud800-\uffff]/.test(a) && /[\ud800-\uffff]/.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

export async function kindOf(entry: Dirent, absolute: string): Promise<EntryKind> {
  const kind = kindOfStats(entry);
  if (kind || entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice()) {
    return kind ?? "special";
  }
  // Some file systems do not say what an entry is.
  return lstat(absolute).then(
    (stats) => kindOfStats(stats) ?? "special",
    () => "special",
  );
}

function kindOfStats(stats: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): EntryKind | undefined {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : undefined;
}
