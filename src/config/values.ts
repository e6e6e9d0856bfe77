// Values as flags, variables and files give them. What cannot be used is one `AppError`, `usage` where nothing else is said, naming where it stands.
import type { ThinkingLevel } from "../protocol/message.ts";
import { thinkingLevels } from "../protocol/thinking-level.ts";
import { longestTimerMs, parseDuration } from "../util/duration.ts";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";

/** An empty variable is none; an empty flag is wrong, since a limit that is not there must not pass for one. */
export function count(name: string, text: string | undefined, least = 1): number | undefined {
  if (text === undefined || (text === "" && !name.startsWith("--"))) return undefined;
  if (text.trim() === "") throw new AppError("usage", `${name} needs a number, and its value is empty`);
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  const range = least === 0 ? ", 0 or more" : ` above ${least - 1}`;
  throw new AppError("usage", `${name} must be a whole number${range}, not '${text}'`);
}

/** Milliseconds. A number is seconds. */
export function duration(
  name: string,
  value: string | number | undefined,
  code: "usage" | "config",
): number | undefined {
  if (value === undefined) return undefined;
  const ms = parseDuration(String(value));
  if (ms !== undefined && ms <= longestTimerMs) return ms;
  throw new AppError(
    code,
    `${name} must be a time above 0 such as 90, 90s, 10m or 1h, at most 24 days, not '${value}'`,
  );
}

/** Above 0; `name` is a flag. */
export function dollars(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new AppError("usage", `${name} must be US dollars above 0, such as 0.50, not '${text}'`);
}

/** The value of `--thinking`. */
export function thinkingLevel(text: string | undefined): ThinkingLevel | undefined {
  if (text === undefined) return undefined;
  const level = thinkingLevels.find((name) => name === text);
  if (level) return level;
  throw new AppError("usage", `--thinking must be one of ${thinkingLevels.join(", ")}, not '${text}'`);
}

/** Milliseconds, 0 for no limit. The variable `name`, `configured` and `fallback` are seconds, and the first that is set counts. */
export function timeout(env: Environment, name: string, configured: number | undefined, fallback: number): number {
  const text = env[name];
  const value = text ? Number(text) : (configured ?? fallback);
  if (!Number.isFinite(value) || value < 0)
    throw new AppError("usage", `${name} must be seconds, 0 or more, not '${text}'`);
  return Math.min(value * 1000, longestTimerMs);
}

/** An http or https URL without slashes at its end; `source` is where it was found. */
export function checkUrl(url: string, source: string): string {
  const protocol = URL.parse(url)?.protocol;
  if (protocol !== "http:" && protocol !== "https:") {
    throw new AppError("usage", `'${url}' is not an http or https URL`, {
      hint: `Check ${source}.`,
    });
  }
  return url.endsWith("/") ? url.replace(/\/+$/, "") : url;
}
