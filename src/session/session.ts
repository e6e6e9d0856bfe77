// The session interface: a conversation that outlives its process.
import type { Entry, EntryDraft, SessionHeader } from "../protocol/entry.ts";
import type { Message } from "../protocol/message.ts";

/** What the loop reads and writes of a conversation. */
export interface Conversation {
  /** What the next request is made of, in order. */
  messages(): readonly Message[];
  /** Adds a message; it is on disk when this returns, before anybody is told of it. Throws `AppError` `session`. */
  add(message: Message): void;
  /** Takes a message that was added out of every further request; what is stored of it stays. Gives the entry that says so, where one is stored. */
  omit(message: Message): Entry | undefined;
}

export interface Session {
  /** The first line of its file, as far as this version knows it. */
  readonly header: SessionHeader;
  readonly id: string;
  /** The working directory it began in. */
  readonly cwd: string;
  /** Its file; undefined for a session that is not stored. */
  readonly path: string | undefined;
  /** Every entry, also of other branches, in the order they were written. Those of unknown types are in it as they came. */
  entries(): readonly Entry[];
  /** The entry that the next one will follow; null before the first. */
  leafId(): string | null;
  /** The latest name given to it. */
  name(): string | undefined;
  /** Whether its file is there; that of a new session appears with the first message. */
  stored(): boolean;
  /**
   * Puts an entry behind the leaf, which it becomes. It is on disk when this returns, except that nothing is written before the first
   * message. Throws `AppError` `session` when it cannot be written.
   */
  append(draft: EntryDraft): Entry;
  /** Goes on from another entry; null: from before the first. Throws `AppError` `session` for an unknown id. */
  moveTo(entryId: string | null): void;
  /** Gives up the file, so that another process may take the session. */
  close(): void;
}
