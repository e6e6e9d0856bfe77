// Entries of older session files as entries of the version that is written now.
import type { Entry } from "./entry.ts";
import { sessionVersion } from "./session-version.ts";

/**
 * Takes the entries of a file of `version` one after another, in the file's order. Version 1 had no ids: each entry followed the one
 * before. Version 2 called custom messages by another role.
 */
export function createMigration(version: number): (entry: Entry) => Entry {
  if (version >= sessionVersion) return (entry) => entry;
  if (version === 2) return renameRole;
  const ids: string[] = [];
  return (entry) => renameRole(place(entry, ids));
}

/** Puts a version 1 entry behind the last one of `ids`, to which its own id is added. */
function place(entry: Entry, ids: string[]): Entry {
  const { type, timestamp, id = ids.length.toString(16).padStart(8, "0"), parentId: _, ...fields } = entry;
  const placed = { type, id, parentId: ids.at(-1) ?? null, timestamp, ...fields };
  ids.push(id);
  const { firstKeptEntryIndex, ...rest } = placed as typeof placed & { firstKeptEntryIndex?: number };
  if (type !== "compaction" || firstKeptEntryIndex === undefined) return placed as Entry;
  // Version 1 counted lines, the header among them.
  return { ...rest, firstKeptEntryId: ids[firstKeptEntryIndex - 1] ?? id } as unknown as Entry;
}

function renameRole(entry: Entry): Entry {
  if (entry.type !== "message" || (entry.message?.role as string) !== "hookMessage") return entry;
  return { ...entry, message: { ...entry.message, role: "custom" } } as Entry;
}
