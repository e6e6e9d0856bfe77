// The gate's question in the REPL: everything that would happen, then one line to answer. Only `y` or `yes` and Enter is a yes,
// since a single key would let the next letter of something being typed approve a command.
import type { Ask, Question } from "../../permission/gate.ts";
import { formatQuestion, isYes } from "../question.ts";
import type { LineReader } from "./line-reader.ts";
import type { Status } from "./status.ts";
import type { Style } from "./style.ts";
import type { Transcript } from "./transcript.ts";

export interface AskContext {
  readonly reader: LineReader;
  readonly status: Status;
  readonly transcript: Transcript;
  readonly style: Style;
  /** Ends the run that asks. */
  readonly abort: () => void;
}

export function createReplAsk({ reader, status, transcript, style, abort }: AskContext): Ask {
  return async (question, signal) => {
    signal.throwIfAborted();
    status.pause();
    const cancel = () => reader.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      transcript.notice(paintQuestion(question, style));
      const reading = await reader.read({ label: style.bold("[y/N] ") });
      if (reading.type === "interrupt") abort();
      signal.throwIfAborted();
      if (reading.type === "line" && isYes(reading.text)) return { allowed: true };
      return { allowed: false, reason: `denied: the user did not approve ${question.toolName}` };
    } finally {
      signal.removeEventListener("abort", cancel);
      status.resume();
    }
  };
}

/** The question, its first line bold and a diff in colour; what a command prints or says is left as it is. */
function paintQuestion(question: Question, style: Style): string {
  const [head = "", ...body] = `${formatQuestion(question).trimEnd()}\n\n`.split("\n");
  const paint = (line: string) => {
    if (/^ {4}\+/.test(line)) return style.green(line);
    if (/^ {4}-/.test(line)) return style.red(line);
    return /^ {4}@@/.test(line) ? style.cyan(line) : line;
  };
  const isDiff = question.toolName === "edit" || question.toolName === "write";
  return [style.bold(head), ...(isDiff ? body.map(paint) : body)].join("\n");
}
