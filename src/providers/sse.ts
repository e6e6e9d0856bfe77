// Bytes of a response body → server-sent events (WHATWG HTML, "Server-sent events"), with the limits on silence.
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { AppError } from "../util/error.ts";

export interface SseLimits {
  /** How long the body may stay silent, in milliseconds; any byte counts as life. 0 = for ever. */
  readonly idleMs: number;
}

/**
 * The events of `body`, one array for each network read that completed any. A last event without its blank line still counts,
 * unless `isCut` says that its data stops in the middle.
 * Ends with `AppError` `timeout` on silence, `network` when the connection breaks and `aborted` when `signal` fires;
 * the body is cancelled in every case.
 */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  limits: SseLimits,
  isCut: (data: string) => boolean = () => false,
): AsyncGenerator<EventSourceMessage[], void, undefined> {
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  // A read that will never settle is left behind: an abort or silence rejects what is waited for, at once.
  let failure: AppError | undefined;
  let reject: (error: unknown) => void = () => {};
  const interrupt = (error: AppError) => {
    failure ??= error;
    reject(failure);
  };
  const onAbort = () => interrupt(new AppError("aborted", "Request aborted"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  const seconds = limits.idleMs / 1000;
  const watchdog = limits.idleMs > 0 ? setTimeout(() => interrupt(silence(seconds)), limits.idleMs) : undefined;
  const read = () =>
    new Promise<Awaited<ReturnType<typeof reader.read>>>((resolve, rejectRead) => {
      if (failure) return rejectRead(failure);
      reject = rejectRead;
      reader.read().then(resolve, (error) => rejectRead(connectionLost(error)));
    });
  try {
    for (;;) {
      const { done, value } = await read();
      watchdog?.refresh();
      if (done) break;
      parser.feed(decoder.decode(value, { stream: true }));
      if (events.length > 0) {
        yield events;
        events = [];
      }
    }
    parser.feed(`${decoder.decode()}\n\n`);
    const last = events.filter(({ data }) => !isCut(data));
    if (last.length > 0) yield last;
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener("abort", onAbort);
    reader.cancel().catch(() => {});
  }
}

function connectionLost(error: unknown): AppError {
  const reason = error instanceof Error ? error.message : String(error);
  return new AppError("network", `The connection broke during the answer: ${reason}`, {
    retryable: true,
    cause: error,
  });
}

function silence(seconds: number): AppError {
  return new AppError("timeout", `The provider sent nothing for ${seconds} s`, {
    retryable: true,
    hint: "Try again, or raise idle_timeout (seconds, 0 = off) if this model really pauses that long.",
  });
}
