// What a provider's refusal means: an HTTP status and a body, or an error object inside a stream → an error class.
import { AppError, type ErrorCode } from "../util/error.ts";
import { isObject } from "../util/is-object.ts";
import { lazy } from "../util/lazy.ts";
import { headOf } from "../util/truncate.ts";
import { toWords } from "./error-words.ts";

/** A path such as `tools[0].function.strict` or `messages.1.content`. */
const path = String.raw`([a-z_][a-z0-9_]*(?:[.[\]]+[a-z0-9_]+)*)`;
const quote = "[\"'`]";

/** Made for the first error: that many expressions take longer than many a start. */
const patterns = lazy(() => ({
  /** How each vendor says that a request is larger than the model's context window. */
  overflow: [
    // OpenAI
    /context[_ ]length[_ ]exceeded/i,
    /maximum context length/i,
    /exceeds the context window/i,
    // Anthropic
    /prompt is too long/i,
    /exceed context limit/i,
    /request_too_large/i,
    // Gemini
    /input token count .*exceeds the maximum/i,
    // Moonshot
    /exceeded model token limit/i,
    // Ollama
    /prompt too long/i,
    /exceed(?:s|ed) .{0,20}context (?:length|size|window)/i,
    // llama.cpp
    /exceed_context_size/i,
    // LM Studio
    /greater than the context length/i,
    // xAI
    /maximum prompt length/i,
    // Groq
    /reduce the length of the messages/i,
    // Mistral
    /too large for model with \d+ maximum context/i,
    // Bedrock
    /input is too long/i,
    // MiniMax
    /context window exceeds limit/i,
    // Copilot
    /token count of \d+ exceeds the limit/i,
  ],
  quota: [
    /insufficient_quota/i,
    /exceeded your current quota/i,
    /billing[_ ](?:details|error|hard|not|issue)/i,
    /insufficient balance/i,
    /credit balance/i,
    /specified API usage limits/i,
    /spend_limit_reached/i,
  ],
  /** Limits for a day or for good, whatever wait is named beside them. */
  lasting: [/insufficient_quota/i, /per.?day/i],
  /** Where a wrong key is but a bad request (Gemini). */
  auth: [/api[_ ]key[_ ](?:not valid|invalid)/i],
  overload: [/overloaded/i, /at capacity/i, /engine is currently overloaded/i],
  server: [/server_error/i, /internal (?:server )?error/i, /bad gateway/i, /gateway time-?out/i],
  rate: [/rate.?limit/i, /too many requests/i, /per minute/i, /resource.?exhausted/i],
  unsupported: [
    String.raw`unsupported (?:parameter|value):\s*${quote}?${path}`,
    String.raw`(?:unknown|unrecognized|unexpected|extra) (?:parameter|argument|field|request argument|name)s?(?: supplied)?:?\s*${quote}?${path}`,
    `${quote}${path}${quote}? (?:is not supported|is not permitted|is unsupported|is deprecated|does not support)`,
    String.raw`\b${path}: (?:extra inputs are not permitted|\w+ is not supported)`,
  ].map((pattern) => new RegExp(pattern, "i")),
  /** A validator's `loc` beside its complaint (FastAPI). */
  refusedLocation: /"loc":\s*\["body",\s*([^\]]+)\][^{}]*(?:not permitted|unsupported|unexpected)/i,
}));

const longestMessage = 2000;

/** The error of a response that is not 2xx. What `body` says is shown, so it must be free of keys already. */
export function toHttpError(status: number, headers: Headers, body: string): AppError {
  const location = headers.get("location");
  if (status < 400 && location) {
    return new AppError("bad_request", `${status}: redirected to ${location}`, {
      hint: "Set the base URL to the address the server names; requests are not sent on to other addresses.",
    });
  }
  const text = body.trim() || "(empty body)";
  const code = classify(status, text);
  return new AppError(code, `${status}: ${headOf(toWords(text), longestMessage)}`, {
    retryable: isRetryable(code),
    retryAfterMs: parseRetryAfter(headers, text),
    parameter: status === 400 || status === 422 ? refusedParameter(text) : undefined,
    hint: hintOf(code, status),
  });
}

/** The parameter that a refusal calls unsupported or unknown, in the words of OpenAI, of validators, and of those who copy them. */
function refusedParameter(text: string): string | undefined {
  // An error that quotes another one is JSON in JSON.
  const plain = text.replaceAll("\\", "");
  const [, location] = patterns().refusedLocation.exec(plain) ?? [];
  if (location !== undefined) return location.replace(/["\s]/g, "").replaceAll(",", ".");
  return patterns()
    .unsupported.map((pattern) => pattern.exec(plain)?.[1])
    .find((name) => name !== undefined);
}

/**
 * The error of an `error` object inside a stream that had begun with HTTP 200. `status` is the code it carries, if any; `message` is what is
 * shown of `text`.
 */
export function toStreamError(status: number | undefined, text: string, message = text): AppError {
  const code = classify(status ?? 0, text);
  return new AppError(code === "bad_request" ? "stream_error" : code, headOf(message, longestMessage), {
    retryable: isRetryable(code),
    retryAfterMs: parseRetryAfter(undefined, text),
    hint: hintOf(code, status),
  });
}

/** The error that an object (or a text) inside a stream describes; `hide` takes keys out of it. A status may be one of its fields. */
export function readStreamError(error: unknown, hide: (text: string) => string): AppError {
  if (!isObject(error)) return toStreamError(undefined, hide(String(error)));
  const status = [error.code, error.status].map(Number).find((value) => value >= 400 && value < 600);
  const text = hide(JSON.stringify(error));
  const words = toWords(text);
  return toStreamError(status, text, status === undefined ? words : `${status}: ${words}`);
}

function hintOf(code: ErrorCode, status: number | undefined): string | undefined {
  if (code === "auth" && status === 403)
    return "The provider does not let this key do that: check what the account may use.";
  if (code === "bad_request" && (status === 404 || status === 405))
    return "Check the base URL (most end with /v1) and the model's name; `pi-ts doctor` looks at both.";
  return hints[code];
}

const hints: Partial<Record<ErrorCode, string>> = {
  auth: "Check the API key: the provider did not accept it.",
  quota: "The account's quota or balance is used up; retrying will not help.",
  context_overflow:
    "The conversation no longer fits the model's context window: begin a new one, or choose a model with a larger window.",
};

function isRetryable(code: ErrorCode): boolean {
  return code === "rate_limit" || code === "overloaded" || code === "server";
}

function classify(status: number, text: string): ErrorCode {
  const { overflow, quota, lasting, auth, overload, server, rate } = patterns();
  const matches = (expressions: readonly RegExp[]) => expressions.some((expression) => expression.test(text));
  // Gemini speaks of the quota, and OpenAI of the billing page, when a minute's limit is reached as well; both then say how long to wait.
  if (status === 429 && parseWait(text) !== undefined && !matches(lasting)) return "rate_limit";
  if (matches(quota) && status !== 413) return "quota";
  // A limit on tokens per minute speaks of too many tokens as well, but waiting helps there.
  if (status === 429 || (status === 0 && matches(rate))) return "rate_limit";
  if (status === 413 || matches(overflow)) return "context_overflow";
  if (status === 529 || status === 503 || matches(overload)) return "overloaded";
  if (status === 401 || status === 403 || matches(auth)) return "auth";
  if (status === 408 || status === 409 || status >= 500 || (status === 0 && matches(server))) return "server";
  return "bad_request";
}

/** The wait a provider asks for, in milliseconds: `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), or "try again in N s" in the text. */
function parseRetryAfter(headers: Headers | undefined, text: string): number | undefined {
  const header = headers?.get("retry-after");
  if (header) {
    const seconds = Number(header);
    if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
    const date = Date.parse(header);
    if (!Number.isNaN(date)) return Math.max(0, date - Date.now());
  }
  return parseWait(text);
}

/** Such as `try again in 350ms`, `retry after 1 second` or `try again in 7m12.5s`, in milliseconds. */
function parseWait(text: string): number | undefined {
  const wait = /(?:try again|retry)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:ms|milli|[hms])[a-z]*\s*)+)/i.exec(
    text,
  )?.[1];
  if (wait === undefined) return undefined;
  const parts = wait.matchAll(/(\d+(?:\.\d+)?)\s*(ms|milli|h|m|s)/gi);
  return [...parts].reduce((sum, [, n, unit = "s"]) => sum + Number(n) * (unitMs[unit.toLowerCase()] ?? 0), 0);
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, milli: 1, s: 1000, m: 60_000, h: 3_600_000 };
