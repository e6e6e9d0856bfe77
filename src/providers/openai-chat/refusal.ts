// What chat-completions servers refuse, and what can be had instead. Pure.
import type { AppError } from "../../util/error.ts";
import type { Quirks, quirkKeys } from "../quirks.ts";
import type { ConfigKeys } from "../refusal.ts";

/** The other name of the output limit, if a refusal asks for it. */
export function otherLimitField({ parameter }: AppError, quirks: Quirks): Quirks["maxTokensField"] | undefined {
  if (parameter !== quirks.maxTokensField) return undefined;
  return parameter === "max_tokens" ? "max_completion_tokens" : "max_tokens";
}

export function describeLimitField(provider: string, field: Quirks["maxTokensField"]): string {
  const refused = field === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  const setting = `providers.${provider}.max_tokens_field = "${field}"`;
  return `${provider} refused ${refused}; asked again with ${field} (${setting} in config.toml saves the detour)`;
}

/** The quirk behind each parameter of a request, or behind a part of it. */
const quirkOfParameter: Readonly<Record<string, keyof typeof quirkKeys>> = {
  max_tokens: "max_tokens_field",
  max_completion_tokens: "max_tokens_field",
  reasoning_content: "reasoning_replay",
  reasoning: "reasoning_replay",
  reasoning_effort: "thinking_format",
  thinking: "thinking_format",
  strict: "strict_tools",
  additionalProperties: "tool_schema",
  role: "system_role",
  developer: "system_role",
  stream_options: "stream_usage",
  include_usage: "stream_usage",
};

export function configKeys(provider: string): ConfigKeys {
  const quirks = Object.entries(quirkOfParameter).map(([name, key]) => [name, `providers.${provider}.${key}`]);
  return { temperature: "temperature", ...Object.fromEntries(quirks) };
}
