// Questions on a terminal that is in its usual mode: the gate's in a one-shot run, and whether to trust a project. One line is read for each.
import { closeSync, constants, openSync, readSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Ask } from "../permission/gate.ts";
import { writeStderr } from "../util/log.ts";
import { visible, visibleLine } from "../util/sanitize.ts";
import { answerLabel, formatQuestion, parseAnswer } from "./question.ts";
import { createStyle, wantsColour } from "./repl/style.ts";

export function createTerminalAsk(env: Readonly<Record<string, string | undefined>>): Ask {
  const style = createStyle(wantsColour(env));
  return async (question, signal) => {
    signal.throwIfAborted();
    forgetTyped();
    writeStderr(`\n${formatQuestion(question, style)}\n${answerLabel}`);
    return parseAnswer(await readLine(signal));
  };
}

/** Shows a project's configuration whole and asks whether it may count. */
export async function askTrust({ path, text }: { readonly path: string; readonly text: string }): Promise<boolean> {
  forgetTyped();
  const body = visible(text.trimEnd()).replace(/^/gm, "    ");
  writeStderr(
    `This project brings its own configuration, ${visibleLine(path)}:\n\n${body}\n\n` +
      "It can choose where requests and keys are sent, and what runs without asking. Trust it as it is now? [y/N] ",
  );
  return parseAnswer(await readLine(new AbortController().signal)).choice === "once";
}

/** What was typed before a question was there to be read is no answer to it. */
function forgetTyped(): void {
  try {
    const terminal = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      while (readSync(terminal, new Uint8Array(4096)) > 0);
    } finally {
      closeSync(terminal);
    }
  } catch {
    // Nothing is left, or this is no terminal of ours to read.
  }
}

/** One line of stdin without its end; "" at its end. Rejects when `signal` fires. */
function readLine(signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: process.stdin, terminal: false });
    const onAbort = () => {
      lines.close();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    lines.once("line", (line) => {
      resolve(line);
      signal.removeEventListener("abort", onAbort);
      lines.close();
    });
    lines.once("close", () => resolve(""));
  });
}
