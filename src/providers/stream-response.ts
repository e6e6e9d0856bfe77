// What all streaming adapters share: the body of a response, read event by event through the adapter's reader, as batches of chunks.
import { AppError } from "../util/error.ts";
import { isObject } from "../util/is-object.ts";
import { isCutJson } from "../util/json-scan.ts";
import { headOf, oneLine } from "../util/truncate.ts";
import { type Batch, isComplete } from "./batch.ts";
import { type Answer, type BodyLimits, readHead } from "./body.ts";
import { titleOf } from "./error-words.ts";
import { bodyOfEvents } from "./json-document.ts";
import type { Loose } from "./json-fields.ts";
import type { Chunk } from "./provider.ts";
import { readSse, type ServerSentEvent } from "./sse.ts";

/** Turns one answer's events into chunks; holds whatever it must remember of them. */
export interface EventReader {
  /** Adds the chunks of one event. After an `end` or `error` chunk nothing more comes. May throw for an event that makes no sense. */
  push(data: string, event: string | undefined, batch: Batch): void;
  /** What is left when the body has ended: the `end` chunk, or the error of a stream that broke off; nothing if one of them came out already. */
  close(): Chunk[];
}

export interface StreamOptions extends BodyLimits {
  /** Takes keys out of what a server says. */
  readonly hide: (text: string) => string;
}

/** The JSON object of an event. Throws for anything else. */
export function parseEvent<Shape>(data: string): Loose<Shape> {
  const value: unknown = JSON.parse(data);
  if (isObject(value)) return value as Loose<Shape>;
  throw new TypeError("the event is not a JSON object");
}

/** The error of a body without an event. */
export function emptyStream(): AppError {
  return new AppError("stream_empty", "The provider sent an empty stream", { retryable: true });
}

/** The error of a body that ended before the answer did. */
export function truncated(): AppError {
  const message = "The connection closed in the middle of the answer";
  return new AppError("stream_truncated", message, { retryable: true });
}

/** Why an answer with so many calls ended; some servers say `stop` although they call. */
export function toStopReason(isCut: boolean, calls: number): "stop" | "length" | "toolUse" {
  if (isCut) return "length";
  return calls > 0 ? "toolUse" : "stop";
}

/**
 * One array for each network read that brought something. Throws `AppError` for a response that is no stream; every later failure is the
 * last chunk, whatever the provider sends. Reading stops, and the body is cancelled, at an `end` or `error` chunk, whatever the server still
 * holds open.
 */
export async function* streamResponse(
  response: Answer,
  reader: EventReader,
  signal: AbortSignal,
  options: StreamOptions,
): AsyncGenerator<readonly Chunk[], void, undefined> {
  const type = (response.headers.get("content-type") ?? "").toLowerCase();
  if (type.startsWith("text/html") || type.startsWith("application/xhtml"))
    throw notAStream(await readHead(response, signal, options), options);
  const body = bodyOfEvents(response);
  if (!body) throw new AppError("stream_empty", "The provider sent no body", { retryable: true });
  try {
    for await (const events of readSse(body, signal, options, isCutJson)) {
      const batch: Batch = [];
      readEvents(events, reader, options, batch);
      if (batch.length > 0) yield batch;
      if (isComplete(batch)) return;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    yield [{ type: "error", error }];
    return;
  }
  yield reader.close();
}

/** Up to the last event, or to one that makes no sense; behind the end of an answer the reader takes nothing. */
function readEvents(
  events: readonly ServerSentEvent[],
  reader: EventReader,
  { hide }: StreamOptions,
  batch: Batch,
): void {
  let read = "";
  try {
    for (const { data, event } of events) {
      read = data;
      reader.push(data, event, batch);
    }
  } catch (cause) {
    const what = cause instanceof SyntaxError ? "is not JSON" : "does not fit its API";
    const message = `The provider sent an event that ${what}: ${headOf(hide(read), 200)}`;
    batch.push({ type: "error", error: new AppError("stream_error", message, { retryable: true, cause }) });
  }
}

function notAStream(body: string, { hide }: StreamOptions): AppError {
  const page = hide(body);
  const message = `The provider sent a web page instead of a stream (text/html): ${titleOf(page) ?? oneLine(page, 200)}`;
  return new AppError("stream_error", message, {
    hint: "Check the base URL (most end with /v1), and whether a proxy or a login page stands in between.",
  });
}
