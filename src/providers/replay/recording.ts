// The recording format: provider traffic as JSON lines. An exchange is a `request`, then its `response` with `chunk`s and an `end`, or a
// `failure` where no answer came. Keys and authorization are never in it.
import { AppError, type ErrorCode, isErrorCode } from "../../util/error.ts";
import { isObject } from "../../util/is-object.ts";
import { redact } from "../../util/redact.ts";

/**
 * `digest` is the SHA-256 of the body as it stands here, in hex; a request without one fits any request. `ms` counts from the request.
 * What changes from place to place and day to day stands in a body as a placeholder. A chunk holds whole lines of the answer. An `end` has an
 * `error` where the body stopped in the middle, and a `code` unless its reader gave it up.
 */
export type RecordingLine =
  | { readonly type: "request"; readonly digest?: string; readonly url?: string; readonly body?: unknown }
  | { readonly type: "response"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: "chunk"; readonly ms: number; readonly text?: string; readonly base64?: string }
  | { readonly type: "end"; readonly ms: number; readonly error?: string; readonly code?: ErrorCode }
  | { readonly type: "failure"; readonly message: string; readonly code?: ErrorCode; readonly retryable?: boolean };

type Line<Type extends RecordingLine["type"]> = RecordingLine & { readonly type: Type };

export interface Exchange {
  readonly request: Line<"request">;
  /** The head of the answer, unless there was none. */
  response?: Line<"response">;
  readonly chunks: { readonly ms: number; readonly bytes: Uint8Array }[];
  /** How the body ended; missing where the recording stops before that. */
  end?: Line<"end">;
  /** Why there was no answer. */
  failure?: Line<"failure">;
}

/** Throws `AppError` `config` naming the line that does not fit. */
export function parseRecording(text: string, name: string): Exchange[] {
  const exchanges: Exchange[] = [];
  text.split("\n").forEach((line, index) => {
    if (line.trim() === "") return;
    const where = `${name}:${index + 1}`;
    const record = parseLine(line, where);
    if (record.type === "request") {
      if (record.digest !== undefined && record.digest !== digestOf(record.body))
        throw new AppError("config", `${where}: the request is not the one that was recorded: its digest differs`);
      exchanges.push({ request: record, chunks: [] });
      return;
    }
    const current = exchanges.at(-1);
    if (!current) throw new AppError("config", `${where}: '${record.type}' before any request`);
    const { response, end, failure } = current;
    if (failure || end) throw new AppError("config", `${where}: '${record.type}' behind the end of an answer`);
    const isFirst = record.type === "response" || record.type === "failure";
    if (isFirst && response)
      throw new AppError("config", `${where}: '${record.type}' behind the beginning of an answer`);
    if (!isFirst && !response) throw new AppError("config", `${where}: '${record.type}' before the response`);
    addTo(current, record);
  });
  return exchanges;
}

function addTo(exchange: Exchange, record: Exclude<RecordingLine, { type: "request" }>): void {
  switch (record.type) {
    case "response":
      exchange.response = record;
      return;
    case "chunk": {
      const bytes = record.base64 === undefined ? Buffer.from(record.text ?? "") : Buffer.from(record.base64, "base64");
      exchange.chunks.push({ ms: record.ms, bytes });
      return;
    }
    case "end":
      exchange.end = record;
      return;
    case "failure":
      exchange.failure = record;
  }
}

function parseLine(line: string, where: string): RecordingLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new AppError("config", `${where}: not JSON: ${(error as Error).message}`);
  }
  const type = isObject(value) ? String(value.type) : "";
  const isGood = Object.hasOwn(lineChecks, type) ? lineChecks[type] : undefined;
  if (isGood?.(value as Json)) return value as RecordingLine;
  throw new AppError("config", `${where}: not a line of a recording`);
}

type Json = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === "string";
const isTime = (value: unknown) => typeof value === "number" && value >= 0;
const isOptionalText = (value: unknown) => value === undefined || isText(value);
const isOptionalCode = (value: unknown) => value === undefined || isErrorCode(value);
const isBase64 = (value: unknown) => isText(value) && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

/** What each kind of line must have. */
const lineChecks: Readonly<Record<string, (line: Json) => boolean>> = {
  request: ({ digest, body }) => digest === undefined || (isText(digest) && isObject(body)),
  response: ({ status, headers }) =>
    Number.isInteger(status) && Number(status) >= 200 && Number(status) < 600 && areHeaders(headers),
  chunk: ({ ms, text, base64 }) => isTime(ms) && (base64 === undefined ? isText(text) : isBase64(base64)),
  end: ({ ms, error, code }) => isTime(ms) && isOptionalText(error) && isOptionalCode(code),
  failure: ({ message, code }) => isText(message) && isOptionalCode(code),
};

function areHeaders(value: unknown): boolean {
  if (!isObject(value) || !Object.values(value).every(isText)) return false;
  try {
    new Headers(value as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** A request's body as a recording holds it: without secrets, given or by their shape. Throws for a text that is no JSON. */
export function toRecordedBody(body: string, secrets: readonly string[]): unknown {
  // Text by text: a pattern over the whole could swallow a bracket.
  return JSON.parse(body, (_key, value: unknown) => (typeof value === "string" ? redact(value, secrets) : value));
}

/** The digest that stands for a recorded body. */
export function digestOf(recorded: unknown): string {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(recorded)).digest("hex");
}
