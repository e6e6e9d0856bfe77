// The provider interface: what the loop knows of a language model, whoever serves it.
import type { ModelMessage, ThinkingLevel, ToolSpec } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { AppError } from "../util/error.ts";
import type { Quirks } from "./quirks.ts";

/** Tokens of one call in disjoint fields: `input` without what was cached, `output` with the reasoning inside. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning?: number;
}

/**
 * One step of a model's answer. `index` numbers the tool calls of an answer in the order they appeared. `block_end` says that the text or
 * thinking so far is a block of its own, where that matters. `paused` means that the model goes on once its answer is sent back.
 * Exactly one `end` or `error` comes last.
 */
export type Chunk =
  | { readonly type: "response"; readonly id: string }
  /** Something the user should know; the answer goes on. */
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "thinking"; readonly delta: string; readonly signature?: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | { readonly type: "block_end" }
  | { readonly type: "toolcall_start"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "toolcall_delta"; readonly index: number; readonly delta: string }
  | { readonly type: "toolcall_extra"; readonly index: number; readonly extraContent: unknown }
  | { readonly type: "usage"; readonly counts: TokenCounts }
  | {
      readonly type: "end";
      readonly reason: "stop" | "length" | "toolUse";
      readonly raw: string;
      readonly paused?: true;
    }
  | { readonly type: "error"; readonly error: AppError };

/** One request to a model. `system` is the whole prompt text; `messages` are what models know: user, assistant and tool results. */
export interface ProviderRequest {
  readonly model: Model;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** The most tokens the answer may have. */
  readonly maxTokens: number;
  readonly temperature?: number | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
}

/** Where and how a provider is reached. */
export interface ProviderSettings {
  readonly name: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** "" for a server that needs none. */
  readonly apiKey: string;
  /** Longest silence inside an answer, in milliseconds; 0 = no limit. */
  readonly idleMs: number;
  /** Further headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Further texts that are never shown nor recorded, such as headers' values from the environment. */
  readonly secretValues?: readonly string[];
  readonly quirks: Quirks;
}

export interface Provider {
  readonly name: string;
  /** Its answers come from a recording: waiting before a repetition changes nothing. */
  readonly isReplay?: boolean;
  /** The wire API it speaks, such as `openai-completions`. */
  readonly api: string;
  /**
   * The model's answer as it arrives, one array for what one network read brought.
   * Throws `AppError` when the request fails before a stream starts; from then on a failure is the last chunk.
   * Aborting `signal` ends it at once the same two ways, with code `aborted`, whatever the network does.
   */
  stream(request: ProviderRequest, signal: AbortSignal): AsyncIterable<readonly Chunk[]>;
}
