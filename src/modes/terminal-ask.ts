// The gate's question in a one-shot run on a terminal: one line read on stdin, no raw mode.
import { createInterface } from "node:readline";
import type { Ask } from "../permission/gate.ts";
import { writeStderr } from "../util/log.ts";
import { formatQuestion, isYes } from "./question.ts";

export function createTerminalAsk(): Ask {
  return async (question, signal) => {
    writeStderr(`\n${formatQuestion(question)}\n[y/N] `);
    const answer = await readLine(signal);
    if (isYes(answer)) return { allowed: true };
    return { allowed: false, reason: `denied: the user did not approve ${question.toolName}` };
  };
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
