// Writes provider traffic to a recording while it happens.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { now } from "../../util/clock.ts";
import { AppError, type ErrorCode } from "../../util/error.ts";
import { hideSecrets, redact } from "../../util/redact.ts";
import { type ByteSource, withBody } from "../body.ts";
import type { Recorder } from "../http.ts";
import { digestOf, type RecordingLine, toRecordedBody } from "./recording.ts";
import { createSplitKeys } from "./split-keys.ts";

/** Response headers that say something about the answer, and nothing about who asked. */
const keptHeaders = ["content-type", "retry-after", "request-id", "x-request-id"];

/**
 * Begins a recording in a new file, readable by its owner alone. `steady` puts placeholders for what changes from run to run.
 * Throws `AppError` `usage` for a file that exists or cannot be written. Later, a file that takes no more is an `output` error of the
 * exchange, and of every one after it.
 */
export function createRecorder(path: string, steady: (body: string) => string): Recorder {
  if (existsSync(path))
    throw new AppError("usage", `${path} exists already`, { hint: "Remove it, or record to another file." });
  try {
    writeFileSync(path, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new AppError("usage", `Cannot record to ${path}: ${(error as Error).message}`);
  }
  let broken: AppError | undefined;
  function write(line: RecordingLine): void {
    if (broken) throw broken;
    try {
      appendFileSync(path, `${JSON.stringify(line)}\n`);
    } catch (error) {
      const hint = "The recording ends there and cannot be replayed; record to another file.";
      broken = new AppError("output", `Cannot go on recording to ${path}: ${(error as Error).message}`, { hint });
      throw broken;
    }
  }

  return ({ url, body, secrets }) => {
    const started = now();
    const elapsed = () => Math.round(now() - started);
    const recorded = toRecordedBody(steady(body), secrets);
    write({ type: "request", digest: digestOf(recorded), url: redact(url, secrets), body: recorded });
    return {
      failed: ({ code, message, retryable }) => write({ type: "failure", code, message, retryable }),
      answered(response) {
        const { status, headers, body: source } = response;
        write({ type: "response", status, headers: keep(headers) });
        if (!source) {
          write({ type: "end", ms: elapsed() });
          return response;
        }
        const writer = createWriter({ isAnswer: response.ok, secrets, elapsed, write });
        return withBody(response, { getReader: () => recordBytes(source.getReader(), writer) });
      },
    };
  };
}

function keep(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => keptHeaders.includes(name)));
}

/**
 * The same bytes, written down as they pass; a body given up in the middle has no proper end. One read is always ahead, since many a reader
 * leaves at the answer's last word: the end right behind it belongs to the recording all the same.
 */
function recordBytes(reader: ByteSource, writer: BodyWriter): ByteSource {
  async function next() {
    try {
      const part = await reader.read();
      if (part.done) writer.end();
      else writer.add(part.value);
      return part;
    } catch (error) {
      if (error instanceof AppError && error.code === "output") reader.cancel().catch(() => {});
      else writer.end(error);
      throw error;
    }
  }
  let ahead: ReturnType<typeof next> | undefined;
  return {
    read() {
      const part = ahead ?? next();
      ahead = part.then(next);
      // Whoever reads on is told.
      ahead.catch(() => {});
      return part;
    },
    async cancel(reason) {
      try {
        writer.end("cancelled");
      } finally {
        await reader.cancel(reason);
      }
    },
  };
}

interface BodyWriter {
  add(bytes: Uint8Array): void;
  /** Writes what is left and the end, once: `failure` says why the body stopped in the middle. */
  end(failure?: unknown): void;
}

interface WriterOptions {
  readonly isAnswer: boolean;
  readonly secrets: readonly string[];
  readonly elapsed: () => number;
  readonly write: (line: RecordingLine) => void;
}

/**
 * Writes a body in chunks of whole lines, so that neither a key nor a character can hide in two halves. Lines whose texts end like the
 * beginning of a key wait for what follows.
 */
function createWriter({ isAnswer, secrets, elapsed, write }: WriterOptions): BodyWriter {
  const splitKeys = createSplitKeys(secrets);
  let open: Uint8Array[] = [];
  let waiting: { readonly ms: number; readonly text: string }[] = [];
  let ended = false;

  // An answer stays as the model gave it but for our keys; what a refusal holds besides is nobody's answer.
  const hide = (text: string) => (isAnswer ? hideSecrets(text, secrets) : redact(text, secrets));

  function writeBytes(pieces: readonly Uint8Array[]): void {
    const bytes = Buffer.concat(pieces);
    const ms = elapsed();
    const decoded = toUtf8(bytes);
    if (decoded === undefined) {
      writeWaiting();
      // Bytes that are no UTF-8 keep their values, and keys are hidden between them as well.
      const base64 = Buffer.from(hide(bytes.toString("latin1")), "latin1").toString("base64");
      write({ type: "chunk", ms, base64 });
      return;
    }
    const text = hide(decoded);
    waiting.push({ ms, text });
    if (!splitKeys.mayGoOn(text)) writeWaiting();
  }

  function writeWaiting(): void {
    const texts = splitKeys.hide(waiting.map(({ text }) => text));
    const times = waiting.map(({ ms }) => ms);
    waiting = [];
    texts.forEach((text, i) => {
      write({ type: "chunk", ms: times[i] ?? 0, text });
    });
  }

  return {
    add(bytes) {
      if (ended) return;
      const lines = Math.max(bytes.lastIndexOf(0x0a), bytes.lastIndexOf(0x0d)) + 1;
      if (lines > 0) {
        const whole = [...open, bytes.subarray(0, lines)];
        open = [];
        writeBytes(whole);
      }
      if (lines < bytes.length) open.push(bytes.slice(lines));
    },
    end(failure) {
      if (ended) return;
      ended = true;
      if (open.length > 0) writeBytes(open);
      writeWaiting();
      write({ type: "end", ms: elapsed(), ...(failure === undefined ? {} : describeEnd(failure, hide)) });
    },
  };
}

function describeEnd(failure: unknown, hide: (text: string) => string): { error: string; code?: ErrorCode } {
  if (!(failure instanceof AppError)) return { error: hide(String(failure)) };
  return failure.code === "aborted" ? { error: "cancelled" } : { error: hide(failure.message), code: failure.code };
}

function toUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
