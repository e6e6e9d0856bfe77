// What can be done about a provider that refuses a parameter: ask in another form where there is exactly one, and name the configuration key
// that settles it.
import { AppError } from "../util/error.ts";

/** Another way to ask after a refusal. */
export interface Detour {
  /** What it is about; no request takes two detours about the same. */
  readonly about: string;
  /** Told to the user: nothing is worked around in silence. */
  readonly notice: string;
  /** Makes the next request another one. */
  take(): void;
}

/** The key in config.toml that changes a parameter, by the parameter's name or the name of a part of it. */
export type ConfigKeys = Readonly<Record<string, string>>;

/** What came of a request, asked again for each detour there is, with their notices. Throws what `send` throws. */
export async function sendAdapting<Answer>(
  send: () => Promise<Answer>,
  toDetour: (error: AppError) => Detour | undefined,
  toKeys: () => ConfigKeys,
): Promise<{ readonly answer: Answer; readonly notices: readonly string[] }> {
  const taken = new Map<string, string>();
  for (;;) {
    try {
      return { answer: await send(), notices: [...taken.values()] };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const detour = toDetour(error);
      if (!detour || taken.has(detour.about)) throw explainRefusal(error, toKeys());
      taken.set(detour.about, detour.notice);
      detour.take();
    }
  }
}

/** Newer models take no temperature but the default. */
export function withoutTemperature(provider: string, take: () => void): Detour {
  const notice = `${provider} refused the temperature; asked again without it (it is set in config.toml)`;
  return { about: "temperature", notice, take };
}

/** The same error, with the key that changes the parameter it names, such as `thinking` for `messages.1.content.0.thinking`. */
function explainRefusal(error: AppError, keys: ConfigKeys): AppError {
  const { code, message, parameter = "" } = error;
  const key = parameter
    .split(/[.[\]]+/)
    .map((part) => (Object.hasOwn(keys, part) ? keys[part] : undefined))
    .findLast((known) => known !== undefined);
  if (key === undefined) return error;
  const hint = `The provider does not take ${parameter}; ${key} in config.toml changes that.`;
  return new AppError(code, message, { hint, parameter, cause: error });
}
