// Reading session files: entries one after another, and the conversation of a branch.
import type { Entry, SessionHeader } from "../protocol/entry.ts";
import type { Message, ThinkingLevel } from "../protocol/message.ts";
import type { OrUnknown } from "../protocol/unknown.ts";

/** What a model is shown of a branch, and the settings in force at its end. */
export interface ReceivedContext {
  readonly messages: readonly OrUnknown<Message>[];
  /** For each message the id of the entry it came from. */
  readonly entryIds: readonly string[];
  readonly model: { readonly provider: string; readonly modelId: string } | undefined;
  readonly thinkingLevel: ThinkingLevel | undefined;
}

/** The first line of a session file; undefined where there is none. Rejects with the file system's error. */
export function readSessionHeader(path: string): Promise<SessionHeader | undefined> {
  void path;
  throw new Error("not there yet");
}

/**
 * The entries of a session file of any version, in the order they were written, as version 3. A line that cannot be read is passed over
 * and costs that line alone; `onDamage` hears how many pieces of a line were lost. Throws the file system's error.
 */
export function readSession(
  path: string,
  options: { readonly onDamage?: (lost: number) => void } = {},
): AsyncGenerator<OrUnknown<Entry>, void, void> {
  void path, options;
  throw new Error("not there yet");
}

/**
 * The messages of the branch that ends at `leafId` (by default the last entry; null: none), as a model is shown them: the latest
 * compaction stands for what it summarized, and context edits are applied.
 */
export function buildContext(entries: readonly OrUnknown<Entry>[], leafId?: string | null): ReceivedContext {
  void entries, leafId;
  throw new Error("not there yet");
}
