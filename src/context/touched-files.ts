// Which files a conversation's tools have read and changed, by the paths the model gave. Pure.
import type { Message } from "../protocol/message.ts";

export interface TouchedFiles {
  /** Read, and not changed since. */
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

const modifying = new Set(["edit", "write"]);

/** `earlier` is what the part summarized before has touched. A call that failed or has no result touched nothing. */
export function touchedFiles(messages: readonly Message[], earlier?: unknown): TouchedFiles {
  const before = toTouchedFiles(earlier);
  const read = new Set(before.readFiles);
  const modified = new Set(before.modifiedFiles);
  const done = new Set(
    messages.flatMap((message) => (message.role === "toolResult" && !message.isError ? [message.toolCallId] : [])),
  );
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall" || !done.has(block.id)) continue;
      const { path } = block.arguments;
      if (typeof path !== "string") continue;
      if (modifying.has(block.name)) modified.add(path);
      else if (block.name === "read") read.add(path);
    }
  }
  return { readFiles: [...read].filter((path) => !modified.has(path)).sort(), modifiedFiles: [...modified].sort() };
}

/** The details of a compaction entry, which another program may have written. */
function toTouchedFiles(details: unknown): TouchedFiles {
  const { readFiles, modifiedFiles } = (details ?? {}) as { readFiles?: unknown; modifiedFiles?: unknown };
  return { readFiles: toPaths(readFiles), modifiedFiles: toPaths(modifiedFiles) };
}

function toPaths(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((path) => typeof path === "string") : [];
}
