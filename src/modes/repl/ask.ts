// The gate's question in the REPL: everything that would happen, then one line to answer. It takes a word and Enter,
// since a single key would let the next letter of something being typed approve a command.
import type { Ask } from "../../permission/gate.ts";
import { answerLabel, formatQuestion, parseAnswer } from "../question.ts";
import type { Style } from "../style.ts";
import type { LineReader } from "./line-reader.ts";
import type { Screen } from "./screen.ts";
import type { Status } from "./status.ts";
import type { Transcript } from "./transcript.ts";

export interface AskContext {
  readonly reader: LineReader;
  readonly screen: Screen;
  readonly status: Status;
  readonly transcript: Transcript;
  readonly style: Style;
  /** Hands out what was typed up to now. */
  readonly takeTyped: () => void;
  /** Ends the run that asks. */
  readonly abort: () => void;
}

export function createReplAsk({ reader, screen, status, transcript, style, takeTyped, abort }: AskContext): Ask {
  return async (question, signal) => {
    signal.throwIfAborted();
    status.pause();
    const cancel = () => reader.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      transcript.print(`${formatQuestion(question, style, screen.columns)}\n`);
      // What was typed before the question was to be seen is no answer to it.
      takeTyped();
      signal.throwIfAborted();
      const reading = await reader.read({ label: style.bold(answerLabel), escapable: true });
      if (reading.type === "interrupt") abort();
      signal.throwIfAborted();
      return reading.type === "line" ? parseAnswer(reading.text) : { choice: "no" };
    } finally {
      signal.removeEventListener("abort", cancel);
      status.resume();
    }
  };
}
