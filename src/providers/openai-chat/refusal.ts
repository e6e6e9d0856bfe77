// What can be done about a provider that refuses a parameter: ask once in the other form, and name the configuration key that settles it. Pure.
import { AppError } from "../../util/error.ts";
import type { Quirks, quirkKeys } from "../quirks.ts";

export interface Adaptation {
  readonly about: "max_tokens" | "temperature";
  readonly quirks: Partial<Quirks>;
  /** Told to the user: nothing is worked around in silence. */
  readonly notice: string;
}

/** How to ask again after this refusal, if it is one of those with exactly one other form. */
export function adaptToRefusal({ parameter }: AppError, quirks: Quirks, provider: string): Adaptation | undefined {
  if (parameter === quirks.maxTokensField) {
    const maxTokensField = parameter === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    const setting = `providers.${provider}.max_tokens_field = "${maxTokensField}"`;
    const notice = `${provider} refused ${parameter}; asked again with ${maxTokensField} (${setting} in config.toml saves the detour)`;
    return { about: "max_tokens", quirks: { maxTokensField }, notice };
  }
  if (parameter === "temperature") {
    const notice = `${provider} refused the temperature; asked again without it (it is set in config.toml)`;
    return { about: "temperature", quirks: {}, notice };
  }
  return undefined;
}

/** The configuration key behind each parameter of a request. */
const keyOfParameter: Readonly<Record<string, keyof typeof quirkKeys | "max_tokens" | "temperature">> = {
  max_tokens: "max_tokens_field",
  max_completion_tokens: "max_tokens_field",
  reasoning_content: "reasoning_replay",
  reasoning: "reasoning_replay",
  reasoning_effort: "thinking_format",
  thinking: "thinking_format",
  strict: "strict_tools",
  developer: "system_role",
  temperature: "temperature",
};

/** The same error, with the key that changes the parameter it names. */
export function explainRefusal(error: AppError, provider: string): AppError {
  const key = error.parameter === undefined ? undefined : keyOfParameter[error.parameter.split(".")[0] ?? ""];
  if (key === undefined) return error;
  const name = key === "temperature" ? key : `providers.${provider}.${key}`;
  return new AppError(error.code, error.message, {
    hint: `The provider does not take ${error.parameter}; ${name} in config.toml changes that.`,
    parameter: error.parameter,
    cause: error,
  });
}
