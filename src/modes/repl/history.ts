// Inputs that outlive the process: `history` in the home folder, one JSON string a line, readable by its owner only.
import { closeSync, fchmodSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder, writePrivateFile } from "../../util/private-file.ts";

export interface History {
  /** Oldest first. */
  readonly entries: readonly string[];
  /** Keeps an input, unless it is blank or the same as the one before. Throws the file system's error, with the entry kept in memory. */
  add(text: string): void;
}

const maxEntries = 1000;

/** Reads the history of `home`; a file that is missing or cannot be read is an empty one. */
export function loadHistory(home: string): History {
  const path = join(home, "history");
  const lines = readLines(path);
  const entries = lines.flatMap(parseEntry).slice(-maxEntries);
  if (lines.length > 2 * maxEntries) shorten(path, entries);
  return {
    entries,
    add(text) {
      if (text.trim() === "" || text === entries.at(-1)) return;
      entries.push(text);
      if (entries.length > maxEntries) entries.shift();
      makePrivateFolder(home);
      append(path, `${JSON.stringify(text)}\n`);
    },
  };
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** A line that is no JSON string, such as one cut short by a full disk, is left out. */
function parseEntry(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "string" ? [value] : [];
  } catch {
    return [];
  }
}

/** One write in append mode, so that two processes never mix or lose lines. */
function append(path: string, line: string): void {
  const file = openSync(path, "a", 0o600);
  try {
    fchmodSync(file, 0o600);
    writeSync(file, line);
  } finally {
    closeSync(file);
  }
}

/** Replaces the file by its newest entries. Failing is harmless: it is tried again at the next start. */
function shorten(path: string, entries: readonly string[]): void {
  try {
    writePrivateFile(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  } catch {
    // Read-only, or full.
  }
}
