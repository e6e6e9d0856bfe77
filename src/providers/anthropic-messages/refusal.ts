// What can be done about a provider that refuses a parameter: name the configuration key that settles it. Pure.
import { AppError } from "../../util/error.ts";

/** The configuration key behind each parameter of a request. */
const keyOfParameter: Readonly<Record<string, string>> = {
  temperature: "temperature",
  max_tokens: "max_tokens",
  thinking: "thinking",
  output_config: "thinking",
};

/** The same error, with the key that changes the parameter it names. */
export function explainRefusal(error: AppError): AppError {
  const { code, message, parameter } = error;
  const key = keyOfParameter[parameter?.split(".")[0] ?? ""];
  if (key === undefined) return error;
  const hint = `The provider does not take ${parameter}; ${key} in config.toml changes that.`;
  return new AppError(code, message, { hint, parameter, cause: error });
}
