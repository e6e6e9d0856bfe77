// The task: words of the command line, piped stdin, or both; never waiting for a pipe that stays silent unless `-` asks to.
import { fstatSync } from "node:fs";
import type { Io } from "../modes/io.ts";
import { AppError } from "../util/error.ts";
import { log } from "../util/log.ts";

/** How long a pipe may take to its first byte when there is a task already, and when stdin is the only source. */
const firstByteMs = 1000;
const onlySourceMs = 10_000;
/** How long a pipe that has begun may pause. */
const pauseMs = 10_000;
const maxBytes = 10 * 1024 * 1024;

/** `hasFiles`: files go along, which may be all there is. Throws `AppError` `usage` when there is no task at all. */
export async function readTask(words: readonly string[], hasFiles: boolean, io: Io): Promise<string> {
  const task = words.filter((word) => word !== "-").join(" ");
  const asked = words.includes("-");
  const hasWords = task.trim() !== "";
  const given = hasWords || hasFiles;
  const piped = await (asked ? readStdin(undefined, undefined) : readPipe(given, io)).catch(cannotRead);
  if (!given && piped.trim() === "") throw noTask(asked);
  if (piped.trim() === "") return task;
  return hasWords ? `${task}\n\n${piped}` : piped;
}

async function readPipe(given: boolean, io: Io): Promise<string> {
  if (io.isTerminal(0) || !hasInput()) return "";
  const first = given ? firstByteMs : onlySourceMs;
  return readStdin(first, (text) => {
    // Never quiet: what was meant to be read may be missing.
    log().warn(
      text === ""
        ? `stdin is open but silent; going on without it (add - to wait for it)`
        : `stdin went silent for ${pauseMs / 1000} s; going on with what came (add - to wait for its end)`,
    );
  });
}

/** Whether stdin is something that can hold text: a file, a pipe or a socket. */
function hasInput(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFile() || stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

/** Reads stdin to its end, or for as long as the limits allow; none = wait for the end. `onSilence` gets what had come. */
async function readStdin(
  firstMs: number | undefined,
  onSilence: ((text: string) => void) | undefined,
): Promise<string> {
  const reader = Bun.stdin.stream().getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const limit = firstMs === undefined ? undefined : bytes === 0 ? firstMs : pauseMs;
    const next = await withLimit(reader.read(), limit);
    if (next === "silent") {
      onSilence?.(text);
      break;
    }
    if (next.done) break;
    bytes += next.value.byteLength;
    if (bytes > maxBytes) {
      throw new AppError("usage", `stdin is larger than ${maxBytes / 1024 / 1024} MB`, {
        hint: "Save it to a file and name the file in the task.",
      });
    }
    text += decoder.decode(next.value, { stream: true });
  }
  return text + decoder.decode();
}

async function withLimit<Value>(promise: Promise<Value>, ms: number | undefined): Promise<Value | "silent"> {
  if (ms === undefined) return promise;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<"silent">((resolve) => {
    timer = setTimeout(() => resolve("silent"), ms);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function cannotRead(error: Error): never {
  if (error instanceof AppError) throw error;
  throw new AppError("usage", `stdin cannot be read: ${error.message}`, { cause: error });
}

function noTask(asked: boolean): AppError {
  return new AppError("usage", asked ? "The task on stdin is empty" : "No task given", {
    hint: 'Try: pi-ts -p "what does this project do?"',
  });
}
