// Writes provider traffic to a recording while it happens.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { AppError } from "../../util/error.ts";
import { hideSecrets, redact } from "../../util/redact.ts";
import type { Recorder } from "../http.ts";
import { digestOf, type RecordingLine, toRecordedBody } from "./recording.ts";

/** Response headers that say something about the answer, and nothing about who asked. */
const keptHeaders = ["content-type", "retry-after", "request-id", "x-request-id"];

/**
 * Begins a recording in a new file, readable by its owner alone. `steady` puts placeholders for what changes from run to run.
 * Throws `AppError` `usage` for a file that exists or cannot be written.
 */
export function createRecorder(path: string, steady: (body: string) => string): Recorder {
  if (existsSync(path))
    throw new AppError("usage", `${path} exists already`, { hint: "Remove it, or record to another file." });
  try {
    writeFileSync(path, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new AppError("usage", `Cannot record to ${path}: ${(error as Error).message}`);
  }
  const write = (line: RecordingLine) => appendFileSync(path, `${JSON.stringify(line)}\n`);

  return ({ url, body, secrets }) => {
    const started = performance.now();
    const elapsed = () => Math.round(performance.now() - started);
    const recorded = toRecordedBody(steady(body), secrets);
    write({ type: "request", digest: digestOf(recorded), url: redact(url, secrets), body: recorded });
    return {
      failed: ({ code, message, retryable }) => write({ type: "failure", code, message, retryable }),
      answered(response) {
        const { status, statusText, headers } = response;
        write({ type: "response", status, headers: keep(headers) });
        if (!response.body) {
          write({ type: "end", ms: elapsed() });
          return response;
        }
        // An answer stays as the model gave it but for our keys; what a refusal holds besides is nobody's answer.
        const hide = (text: string) => (response.ok ? hideSecrets(text, secrets) : redact(text, secrets));
        const copy = recordBody(response.body, elapsed, write, hide);
        return new Response(copy, { status, statusText, headers });
      },
    };
  };
}

function keep(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => keptHeaders.includes(name)));
}

/**
 * The same body, written down as it passes; a body given up in the middle has no proper end. Only whole lines are written, so that neither
 * a key nor a character can hide in two halves.
 */
function recordBody(
  body: ReadableStream<Uint8Array>,
  elapsed: () => number,
  write: (line: RecordingLine) => void,
  hide: (text: string) => string,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let open: Uint8Array[] = [];

  function writeLines(bytes: Uint8Array): void {
    const lines = Math.max(bytes.lastIndexOf(0x0a), bytes.lastIndexOf(0x0d)) + 1;
    if (lines > 0) {
      writeText([...open, bytes.subarray(0, lines)]);
      open = [];
    }
    if (lines < bytes.length) open.push(bytes.slice(lines));
  }

  function writeText(pieces: readonly Uint8Array[]): void {
    const bytes = Buffer.concat(pieces);
    // Bytes that are no UTF-8 keep their values, and keys are hidden between them as well.
    const text = toUtf8(bytes);
    const content =
      text === undefined
        ? { base64: Buffer.from(hide(bytes.toString("latin1")), "latin1").toString("base64") }
        : { text: hide(text) };
    write({ type: "chunk", ms: elapsed(), ...content });
  }

  function writeEnd(error?: string): void {
    if (open.length > 0) writeText(open);
    open = [];
    write({ type: "end", ms: elapsed(), ...(error === undefined ? {} : { error: hide(error) }) });
  }

  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          writeLines(value);
          controller.enqueue(value);
          return;
        }
        writeEnd();
        controller.close();
      } catch (error) {
        writeEnd(String(error));
        controller.error(error);
      }
    },
    cancel(reason) {
      writeEnd("cancelled");
      return reader.cancel(reason);
    },
  });
}

function toUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
