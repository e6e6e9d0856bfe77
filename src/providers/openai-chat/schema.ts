// The part of a chat-completions stream chunk that is read (OpenAI API reference, "The chat completion chunk object"). Types, and what
// a field should be: compatible servers leave out, null and mistype anything, so each one is read through `json-fields.ts`.

export interface ChatChunk {
  readonly id: string;
  readonly object: string;
  readonly choices: readonly ChatChoice[];
  readonly usage: ChatUsage;
  readonly error: unknown;
}

export interface ChatChoice {
  readonly delta: ChatDelta;
  /** The whole answer, in a document that came instead of a stream. */
  readonly message: ChatDelta;
  readonly finish_reason: string;
  /** Some servers report usage here (Moonshot). */
  readonly usage: ChatUsage;
}

export interface ChatDelta {
  /** Some servers send a list of parts (Mistral). */
  readonly content: string | readonly { readonly text: string }[];
  readonly reasoning_content: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly tool_calls: readonly ChatToolCallDelta[];
}

/** Where reasoning may stand, and where it goes back. */
export const reasoningFields = ["reasoning_content", "reasoning"] as const;
export type ReasoningField = (typeof reasoningFields)[number];

export interface ChatToolCallDelta {
  readonly index: number;
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: unknown };
  readonly extra_content: unknown;
}

/** `prompt_tokens` includes the cached ones, and `completion_tokens` the reasoning unless the total says otherwise (xAI). */
export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
  /** Moonshot's and DeepSeek's own places for the cached part. */
  readonly cached_tokens: number;
  readonly prompt_cache_hit_tokens: number;
}
