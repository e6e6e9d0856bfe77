// Reading the body of a response: an abort takes effect at once, silence has a limit, and a body that is no answer is not read for ever.
import { AppError } from "../util/error.ts";
import { connectionLost } from "./connection-error.ts";

export interface BodyLimits {
  /** How long a body that has begun may stay silent, in milliseconds; any byte counts as life. 0 = for ever. */
  readonly idleMs: number;
}

/** The bytes of an answer, to be read once; a stream is one, and so is what passes another one on, which costs less than a stream of its own. */
export interface Body {
  getReader(): ByteSource;
}

export type ByteSource = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** What is needed of a `Response`. */
export interface Answer extends Pick<Response, "ok" | "status" | "statusText" | "headers"> {
  readonly body: Body | null;
}

/** The same answer with another body. */
export function withBody({ ok, status, statusText, headers }: Answer, body: Body | null): Answer {
  return { ok, status, statusText, headers, body };
}

export interface BodyReader {
  /**
   * The next bytes, undefined at the end. Rejects with `AppError`: `timeout` on silence, `network` when the connection breaks, `aborted` when
   * the signal fires.
   */
  read(): Promise<Uint8Array | undefined>;
  /** Gives the body up, wherever it is. */
  close(): void;
}

export function openBody(body: Body, signal: AbortSignal, { idleMs }: BodyLimits): BodyReader {
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
  let watchdog: Timer | undefined;
  const next = () =>
    new Promise<Awaited<ReturnType<typeof reader.read>>>((resolve, rejectRead) => {
      if (failure) return rejectRead(failure);
      reject = rejectRead;
      reader.read().then(resolve, (error) => {
        rejectRead(error instanceof AppError ? error : connectionLost(error));
      });
    });
  return {
    async read() {
      const { done, value } = await next();
      if (watchdog) watchdog.refresh();
      else if (idleMs > 0) watchdog = setTimeout(() => interrupt(silence(idleMs / 1000)), idleMs);
      return done ? undefined : value;
    },
    close() {
      clearTimeout(watchdog);
      signal.removeEventListener("abort", onAbort);
      reader.cancel().catch(() => {});
    },
  };
}

function silence(seconds: number): AppError {
  return new AppError("timeout", `The provider sent nothing for ${seconds} s`, {
    retryable: true,
    hint: "Try again, or raise idle_timeout (seconds, 0 = off) if this model really pauses that long.",
  });
}

const longestHead = 64 * 1024;
const longestPatienceMs = 30_000;

/**
 * The beginning of a body that is no answer, as text: what has come when it ends, breaks, has been read far enough, or takes too long.
 * Throws `AppError` `aborted` only.
 */
export async function readHead({ body }: Answer, signal: AbortSignal, { idleMs }: BodyLimits): Promise<string> {
  if (!body) return "";
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), Math.min(idleMs || longestPatienceMs, longestPatienceMs));
  const reader = openBody(body, AbortSignal.any([signal, late.signal]), { idleMs: 0 });
  const pieces: Uint8Array[] = [];
  try {
    await readInto(pieces, reader, longestHead);
  } catch (error) {
    if (signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    reader.close();
  }
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, longestHead));
}

/** All of a body, as text; undefined when it has more than `most` bytes. Rejects as a `BodyReader` does. */
export async function readWhole({ body }: Answer, signal: AbortSignal, most: number): Promise<string | undefined> {
  if (!body) return "";
  const reader = openBody(body, signal, { idleMs: 0 });
  const pieces: Uint8Array[] = [];
  try {
    const isWhole = await readInto(pieces, reader, most + 1);
    return isWhole ? new TextDecoder().decode(Buffer.concat(pieces)) : undefined;
  } finally {
    reader.close();
  }
}

/** Adds what comes to `pieces`, until there are `enough` bytes; whether the body ended before. */
async function readInto(pieces: Uint8Array[], reader: BodyReader, enough: number): Promise<boolean> {
  for (let size = 0; size < enough; ) {
    const bytes = await reader.read();
    if (!bytes) return true;
    size += bytes.length;
    pieces.push(bytes);
  }
  return false;
}
