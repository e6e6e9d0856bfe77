// The recording format: provider traffic as JSON lines. An exchange is a `request`, then its `response` with `chunk`s and an `end`, or a
// `failure` where no answer came. Keys and authorization are never in it.
import { AppError, type ErrorCode } from "../../util/error.ts";
import { redact } from "../../util/redact.ts";

/**
 * `digest` is the SHA-256 of the body as it stands here, in hex; a request without one fits any request. `ms` counts from the request.
 * What changes from place to place and day to day stands in a body as a placeholder. A chunk holds whole lines of the answer.
 */
export type RecordingLine =
  | { readonly type: "request"; readonly digest?: string; readonly url?: string; readonly body?: unknown }
  | { readonly type: "response"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: "chunk"; readonly ms: number; readonly text?: string; readonly base64?: string }
  | { readonly type: "end"; readonly ms: number; readonly error?: string }
  | { readonly type: "failure"; readonly message: string; readonly code?: ErrorCode; readonly retryable?: boolean };

type Line<Type extends RecordingLine["type"]> = RecordingLine & { readonly type: Type };

export interface Exchange {
  readonly request: Line<"request">;
  /** The head of the answer, unless there was none. */
  response?: Line<"response">;
  readonly chunks: { readonly ms: number; readonly bytes: Uint8Array }[];
  /** Why there was no answer, or no whole refusal. */
  failure?: Line<"failure">;
  /** Whether the body came to its proper end. */
  complete: boolean;
}

/** Throws `AppError` `config` naming the line that does not fit. */
export function parseRecording(text: string, name: string): Exchange[] {
  const exchanges: Exchange[] = [];
  text.split("\n").forEach((line, index) => {
    if (line.trim() === "") return;
    const where = `${name}:${index + 1}`;
    const record = parseLine(line, where);
    if (record.type === "request") {
      exchanges.push({ request: record, chunks: [], complete: false });
      return;
    }
    const current = exchanges.at(-1);
    if (!current) throw new AppError("config", `${where}: '${record.type}' before any request`);
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
      exchange.complete = record.error === undefined;
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
  const known = isObject(value) ? lineChecks[String(value.type)] : undefined;
  if (known?.(value as Json)) return value as RecordingLine;
  throw new AppError("config", `${where}: not a line of a recording`);
}

type Json = Record<string, unknown>;

const isText = (value: unknown) => typeof value === "string";
const isTime = (value: unknown) => typeof value === "number" && value >= 0;

/** What each kind of line must have. */
const lineChecks: Readonly<Record<string, (line: Json) => boolean>> = {
  request: ({ digest, body }) => digest === undefined || (isText(digest) && isObject(body)),
  response: ({ status, headers }) =>
    Number.isInteger(status) &&
    Number(status) >= 200 &&
    Number(status) < 600 &&
    isObject(headers) &&
    Object.values(headers).every(isText),
  chunk: ({ ms, text, base64 }) => isTime(ms) && (isText(text) || isText(base64)),
  end: ({ ms, error }) => isTime(ms) && (error === undefined || isText(error)),
  failure: ({ message }) => isText(message),
};

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
