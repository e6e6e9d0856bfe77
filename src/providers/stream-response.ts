// What all streaming adapters share: the body of a response, read event by event through the adapter's reader, as batches of chunks.
import { AppError } from "../util/error.ts";
import { isCutJson } from "../util/json-scan.ts";
import { headOf } from "../util/truncate.ts";
import type { Chunk } from "./provider.ts";
import { readSse, type SseLimits } from "./sse.ts";

/** Turns one answer's events into chunks; holds whatever it must remember of them. */
export interface EventReader {
  /** The chunks of one event. After an `end` or `error` chunk nothing more comes out. */
  push(data: string, event?: string): Chunk[];
  /** What is left when the body has ended: the `end` chunk, or the error of a stream that broke off; nothing if one of them came out already. */
  close(): Chunk[];
}

/** The error of an event that is not JSON. */
export function malformedEvent(data: string): AppError {
  const message = `The provider sent an event that is not JSON: ${headOf(data, 200)}`;
  return new AppError("stream_error", message, { retryable: true });
}

/** The error of a body that ended before the answer did. */
export function truncated(): AppError {
  const message = "The connection closed in the middle of the answer";
  return new AppError("stream_truncated", message, { retryable: true });
}

/**
 * One array for each network read that brought something. Throws `AppError` `stream_empty` for a response without a body; every later
 * failure is the last chunk. Reading stops, and the body is cancelled, at an `end` or `error` chunk, whatever the server still holds open.
 */
export async function* streamResponse(
  response: Response,
  reader: EventReader,
  signal: AbortSignal,
  limits: SseLimits,
): AsyncGenerator<readonly Chunk[], void, undefined> {
  if (!response.body) throw new AppError("stream_empty", "The provider sent no body", { retryable: true });
  try {
    for await (const events of readSse(response.body, signal, limits, isCutJson)) {
      const chunks: Chunk[] = [];
      for (const { data, event } of events) {
        for (const chunk of reader.push(data, event)) chunks.push(chunk);
      }
      if (chunks.length > 0) yield chunks;
      const last = chunks.at(-1)?.type;
      if (last === "end" || last === "error") return;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    yield [{ type: "error", error }];
    return;
  }
  yield reader.close();
}
