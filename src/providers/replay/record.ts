// Writes provider traffic to a recording while it happens.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { AppError } from "../../util/error.ts";
import { redact } from "../../util/redact.ts";
import type { HttpRequest, Recorder } from "../http.ts";
import { digestOf, type RecordingLine } from "./recording.ts";

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

  return (request) => {
    const started = performance.now();
    const elapsed = () => Math.round(performance.now() - started);
    const body = redact(steady(request.body), request.secrets);
    write({
      type: "request",
      digest: digestOf(body),
      url: redact(request.url, request.secrets),
      body: JSON.parse(body),
    });
    return {
      failed: (error) => write({ type: "failure", message: redact(String(error), request.secrets) }),
      answered(response) {
        write({ type: "response", status: response.status, headers: keep(response.headers) });
        if (!response.body) {
          write({ type: "end", ms: elapsed() });
          return response;
        }
        const recorded = recordBody(response.body, request, elapsed, write);
        const { status, statusText, headers } = response;
        return new Response(recorded, { status, statusText, headers });
      },
    };
  };
}

function keep(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => keptHeaders.includes(name)));
}

/** The same body, each chunk written down as it passes; a body given up in the middle has no proper end. */
function recordBody(
  body: ReadableStream<Uint8Array>,
  request: HttpRequest,
  elapsed: () => number,
  write: (line: RecordingLine) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          write({ type: "end", ms: elapsed() });
          controller.close();
          return;
        }
        write({ type: "chunk", ms: elapsed(), ...toText(value, request.secrets) });
        controller.enqueue(value);
      } catch (error) {
        write({ type: "end", ms: elapsed(), error: String(error) });
        controller.error(error);
      }
    },
    cancel(reason) {
      write({ type: "end", ms: elapsed(), error: "cancelled" });
      return reader.cancel(reason);
    },
  });
}

function toText(bytes: Uint8Array, secrets: readonly string[]): { text: string } | { base64: string } {
  try {
    return { text: redact(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), secrets) };
  } catch {
    return { base64: Buffer.from(bytes).toString("base64") };
  }
}
