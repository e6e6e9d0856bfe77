// How providers differ on the chat-completions wire: one row each, in the catalog; a further server's in config.toml.

export interface Quirks {
  /** The field that carries the output limit. OpenAI's newer models refuse `max_tokens`; most compatible servers know nothing else. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** What stands for the text of an answer that only called tools. */
  readonly callsOnlyContent: "null" | "empty" | "omit";
  /** Whether the reasoning of earlier answers goes back: some ignore it, some refuse a request with it, and some (`required`) one without. */
  readonly reasoningReplay: "always" | "required" | "never";
  /** The JSON Schema that a tool's parameters may use. */
  readonly toolSchema: "full" | "gemini";
  /** The role of the prompt. */
  readonly systemRole: "system" | "developer";
  /** Whether tools ask for strict arguments, `"strict": false` in so many words, or leave the field out. */
  readonly strictTools: "omit" | "false";
  /** Whether the tokens are asked for with `stream_options`, which some servers refuse; without it most count nothing. */
  readonly streamUsage: boolean;
  /** How a thinking level is asked for: not at all, by `reasoning_effort`, or by `thinking: { type }` beside it. */
  readonly thinking: "none" | "reasoning_effort" | "thinking_type";
}

/** What a server is taken for when nothing is known of it. */
export const defaultQuirks: Quirks = {
  maxTokensField: "max_tokens",
  callsOnlyContent: "null",
  reasoningReplay: "always",
  toolSchema: "full",
  systemRole: "system",
  strictTools: "omit",
  streamUsage: true,
  thinking: "reasoning_effort",
};

/** The same as config.toml names them, for each quirk that a user can set. */
export const quirkKeys = {
  max_tokens_field: "maxTokensField",
  calls_only_content: "callsOnlyContent",
  reasoning_replay: "reasoningReplay",
  tool_schema: "toolSchema",
  system_role: "systemRole",
  strict_tools: "strictTools",
  stream_usage: "streamUsage",
  thinking_format: "thinking",
} as const satisfies Record<string, keyof Quirks>;
