// The part of a Messages stream event that is read (Anthropic API reference, "Streaming Messages"; compatible servers leave out or null
// anything). Types only: checking each delta against a schema would cost more than reading it.

export interface MessagesEvent {
  readonly type?: string | null;
  /** The content block that a `content_block_*` event is about. */
  readonly index?: number | null;
  /** `message_start`. */
  readonly message?: { readonly id?: string | null; readonly usage?: MessagesUsage | null } | null;
  /** `content_block_start`. */
  readonly content_block?: ContentBlock | null;
  /** `content_block_delta` and `message_delta`. */
  readonly delta?: MessagesDelta | null;
  /** `message_delta`. */
  readonly usage?: MessagesUsage | null;
  readonly error?: unknown;
}

export interface ContentBlock {
  readonly type?: string | null;
  readonly text?: string | null;
  readonly thinking?: string | null;
  readonly signature?: string | null;
  /** What a `redacted_thinking` block holds. */
  readonly data?: string | null;
  readonly id?: string | null;
  readonly name?: string | null;
  readonly input?: unknown;
}

export interface MessagesDelta {
  readonly type?: string | null;
  readonly text?: string | null;
  readonly thinking?: string | null;
  readonly signature?: string | null;
  readonly partial_json?: string | null;
  readonly stop_reason?: string | null;
  /** Why the model refused. */
  readonly stop_details?: { readonly explanation?: string | null } | null;
}

/** Disjoint already: `input_tokens` is what was neither read from the cache nor written to it. Counts are cumulative. */
export interface MessagesUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}
