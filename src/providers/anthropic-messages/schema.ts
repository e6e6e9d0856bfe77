// The part of a Messages stream event that is read (Anthropic API reference, "Streaming Messages"). Types only, and what a field should be:
// compatible servers leave out, null and mistype anything, so each one is read through `json-fields.ts`.

export interface MessagesEvent {
  readonly type: string;
  /** The content block that a `content_block_*` event is about. */
  readonly index: number;
  /** `message_start`. */
  readonly message: { readonly id: string; readonly usage: MessagesUsage };
  /** `content_block_start`. */
  readonly content_block: ContentBlock;
  /** `content_block_delta` and `message_delta`. */
  readonly delta: MessagesDelta;
  /** `message_delta`. */
  readonly usage: MessagesUsage;
  readonly error: unknown;
}

/** The whole answer, as it comes where a server does not stream. */
export interface WholeMessage {
  readonly id: string;
  readonly content: readonly ContentBlock[];
  readonly stop_reason: string;
  readonly stop_details: StopDetails;
  readonly usage: MessagesUsage;
}

export interface ContentBlock {
  readonly type: string;
  readonly text: string;
  readonly thinking: string;
  readonly signature: string;
  /** What a `redacted_thinking` block holds. */
  readonly data: string;
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface MessagesDelta {
  readonly type: string;
  readonly text: string;
  readonly thinking: string;
  readonly signature: string;
  readonly partial_json: string;
  readonly stop_reason: string;
  readonly stop_details: StopDetails;
}

/** Why the model refused. */
export interface StopDetails {
  readonly explanation: string;
}

/** Disjoint already: `input_tokens` is what was neither read from the cache nor written to it. Counts are cumulative. */
export interface MessagesUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}
