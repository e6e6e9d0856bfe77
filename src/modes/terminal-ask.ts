// Questions on a terminal that is in its usual mode: the gate's in a one-shot run, and whether to trust a project. One line is read for each.
import { closeSync, constants, openSync, readSync } from "node:fs";
import type { Ask } from "../permission/gate.ts";
import type { Environment } from "../util/environment.ts";
import { visibleLine } from "../util/sanitize.ts";
import { writeStderr } from "../util/stderr.ts";
import { answerLabel, formatQuestion, parseAnswer, quotedLines } from "./question.ts";
import { createStyle, wantsColour } from "./style.ts";

export function createTerminalAsk(env: Environment): Ask {
  const style = createStyle(wantsColour(env));
  return async (question, signal) => {
    signal.throwIfAborted();
    return parseAnswer(await askLine(`\n${formatQuestion(question, style, columns())}\n${answerLabel}`, signal));
  };
}

/** Shows a project's configuration whole and asks whether it may count. */
export async function askTrust({ path, text }: { readonly path: string; readonly text: string }): Promise<boolean> {
  const body = quotedLines(text, columns()).join("\n");
  const answer = await askLine(
    `This project brings its own configuration, ${visibleLine(path)}:\n\n${body}\n\n` +
      "It can choose where requests and keys are sent, what runs without asking, and which programs are started. Trust it as it is now? [y/N] ",
  );
  return parseAnswer(answer).choice === "once";
}

/** Asks `question` and gives the line that is typed from then on; "" at the end of input. Rejects when `signal` fires. */
export function askLine(question: string, signal?: AbortSignal): Promise<string> {
  forgetTyped();
  writeStderr(question);
  return readLine(signal);
}

/** Of the terminal that shows the question. */
function columns(): number {
  return process.stderr.columns || 80;
}

/**
 * What was typed before a question was there to be read is no answer to it. A line without its end can only be read, and so be thrown away,
 * while the terminal gives out every key as it comes.
 */
function forgetTyped(): void {
  const { stdin } = process;
  try {
    const terminal = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      stdin.setRawMode(true);
      while (readSync(terminal, new Uint8Array(4096)) > 0);
    } finally {
      stdin.setRawMode(false);
      closeSync(terminal);
    }
  } catch {
    // Nothing is left, or this is no terminal of ours to read.
  }
  // What an earlier question has read beyond its line.
  while (stdin.read() !== null);
}

/** One line of stdin without its end. The cursor stands at the start of a row afterwards. */
function readLine(signal?: AbortSignal): Promise<string> {
  const { stdin } = process;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const decoder = new TextDecoder();
  let typed = "";

  function onData(bytes: Uint8Array): void {
    typed += decoder.decode(bytes, { stream: true });
    const end = typed.indexOf("\n");
    if (end >= 0) resolve(typed.slice(0, end));
  }
  /** Half a line is no answer: the row it stands in is left. */
  function onEnd(): void {
    writeStderr("\n");
    resolve("");
  }
  function onAbort(): void {
    writeStderr("\n");
    reject(signal?.reason);
  }

  stdin.on("data", onData);
  stdin.on("end", onEnd);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (stdin.readableEnded) onEnd();
  else stdin.resume();
  return promise.finally(() => {
    stdin.off("data", onData);
    stdin.off("end", onEnd);
    signal?.removeEventListener("abort", onAbort);
    stdin.pause();
  });
}
