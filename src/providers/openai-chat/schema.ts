// The part of a chat-completions stream chunk that is read (OpenAI API reference, "The chat completion chunk object"; compatible servers
// leave out or null anything). Types only: checking each delta against a schema would cost more than reading it.

export interface ChatChunk {
  readonly id?: string | null;
  readonly object?: string | null;
  readonly choices?: readonly ChatChoice[] | null;
  readonly usage?: ChatUsage | null;
  readonly error?: unknown;
}

export interface ChatChoice {
  readonly delta?: ChatDelta | null;
  readonly finish_reason?: string | null;
  /** Some servers report usage here (Moonshot). */
  readonly usage?: ChatUsage | null;
}

export interface ChatDelta {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly ChatToolCallDelta[] | null;
}

export interface ChatToolCallDelta {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
  readonly extra_content?: unknown;
}

/** `prompt_tokens` includes the cached ones and `completion_tokens` the reasoning. */
export interface ChatUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  /** Moonshot's and DeepSeek's own places for the cached part. */
  readonly cached_tokens?: number | null;
  readonly prompt_cache_hit_tokens?: number | null;
}
