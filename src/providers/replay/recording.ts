// The recording format: provider traffic as JSON lines. An exchange is a `request`, then its `response` with `chunk`s and an `end`, or a
// `failure` where no answer came. Keys and authorization are never in it.
import { AppError } from "../../util/error.ts";

/**
 * `digest` is the SHA-256 of the body, in hex; a request without one fits any request. `ms` counts from the request.
 * What changes from place to place and day to day stands in a body as a placeholder.
 */
export type RecordingLine =
  | { readonly type: "request"; readonly digest?: string; readonly url?: string; readonly body?: unknown }
  | { readonly type: "response"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: "chunk"; readonly ms: number; readonly text?: string; readonly base64?: string }
  | { readonly type: "end"; readonly ms: number; readonly error?: string }
  | { readonly type: "failure"; readonly message: string };

export interface Exchange {
  readonly request: RecordingLine & { readonly type: "request" };
  status: number;
  headers: Readonly<Record<string, string>>;
  readonly chunks: { readonly ms: number; readonly bytes: Uint8Array }[];
  /** Why there was no answer. */
  failure?: string;
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
      exchanges.push({ request: record, status: 0, headers: {}, chunks: [], complete: false });
      return;
    }
    const current = exchanges.at(-1);
    if (!current) throw new AppError("config", `${where}: '${record.type}' before any request`);
    addTo(current, record, where);
  });
  return exchanges;
}

function addTo(exchange: Exchange, record: Exclude<RecordingLine, { type: "request" }>, where: string): void {
  switch (record.type) {
    case "response":
      exchange.status = record.status;
      exchange.headers = record.headers;
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
      exchange.failure = record.message;
      return;
    default:
      throw new AppError("config", `${where}: not a line of a recording`);
  }
}

function parseLine(line: string, where: string): RecordingLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new AppError("config", `${where}: not JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && "type" in value) return value as RecordingLine;
  throw new AppError("config", `${where}: not a line of a recording`);
}

/** The digest that stands for a body, after `steady` has put placeholders in. */
export function digestOf(body: string): string {
  return new Bun.CryptoHasher("sha256").update(body).digest("hex");
}
