// What happens in a run, printed as it happens: the answer's text as it streams, thoughts dim, a line for every finished tool call.
import type { AgentEvent } from "../../protocol/event.ts";
import { describeDuration } from "../../util/duration.ts";
import { createVisible, visible } from "../../util/sanitize.ts";
import { oneLine } from "../../util/truncate.ts";
import { wrapText } from "../layout.ts";
import { describeCompaction, describeFallback } from "../show.ts";
import { createStyle, type Style } from "../style.ts";
import { type Answer, createAnswer } from "./answer.ts";
import type { Screen } from "./screen.ts";
import { formatToolCall } from "./tool-line.ts";

/** Kinds of output; a blank line stands between two of different kinds. */
type Kind = "input" | "thinking" | "text" | "tool" | "notice";

export interface Transcript {
  follow(event: AgentEvent): void;
  /** Prints whole lines of our own, their words wrapped. */
  notice(text: string): void;
  /** The same for lines that are laid out already, or to be copied. */
  print(text: string): void;
  /** Makes room for the user's input, which comes next. */
  beginInput(): void;
}

export interface TranscriptOptions {
  /** Whether the Markdown of answers is shown as what it means, instead of as written. */
  readonly markdown: boolean;
  /** How much of a tool's time a person took to answer. */
  askedMs(): number;
}

export function createTranscript(screen: Screen, style: Style, { markdown, askedMs }: TranscriptOptions): Transcript {
  let last: Kind = "notice";
  /** Blanks at the end of a block are kept back until something follows them. */
  let held = "";
  let blockEmpty = true;
  let visiblePiece = createVisible();
  /** What shows the block, unless it is shown as written. */
  let answer: Answer | undefined;
  const args = new Map<string, Readonly<Record<string, unknown>>>();

  function endBlock(): void {
    answer?.end();
    screen.freshLine();
  }

  function begin(kind: Kind): void {
    endBlock();
    if (kind !== last) screen.print("\n");
    last = kind;
  }

  function notice(text: string): void {
    print(wrapText(text, screen.columns));
  }

  function print(text: string): void {
    begin("notice");
    screen.print(text.endsWith("\n") ? text : `${text}\n`);
  }

  function startBlock(kind: Kind): void {
    held = "";
    blockEmpty = true;
    visiblePiece = createVisible();
    if (!markdown) answer = undefined;
    else answer = kind === "text" ? createAnswer(screen, style) : createAnswer(screen, createStyle(false), style.dim);
  }

  function write(kind: Kind, delta: string): void {
    const whole = held + delta;
    const ready = whole.trimEnd();
    held = whole.slice(ready.length);
    if (ready !== "") {
      const text = visiblePiece(blockEmpty ? ready.replace(/^\s*\n/, "") : ready);
      if (blockEmpty) begin(kind);
      blockEmpty = false;
      if (answer) answer.write(text);
      else screen.print(kind === "thinking" ? style.dim(text) : text);
    }
    answer?.rest(held);
  }

  function follow(event: AgentEvent): void {
    switch (event.type) {
      case "message_update": {
        const step = event.assistantMessageEvent;
        if (step.type === "text_start") startBlock("text");
        else if (step.type === "thinking_start") startBlock("thinking");
        else if (step.type === "text_delta") write("text", step.delta);
        else if (step.type === "thinking_delta") write("thinking", step.delta);
        else if (step.type === "text_end" || step.type === "thinking_end") endBlock();
        return;
      }
      case "message_end":
        endBlock();
        return;
      case "auto_retry_start": {
        const { errorMessage, delayMs, attempt, maxAttempts } = event;
        const again = `trying again in ${describeDuration(delayMs)} (${attempt} of ${maxAttempts})`;
        notice(`${style.yellow(visible(oneLine(errorMessage, 300)))}\n  ${again}`);
        return;
      }
      case "model_fallback":
        notice(style.yellow(visible(describeFallback(event))));
        return;
      case "compaction_end": {
        const text = describeCompaction(event);
        if (text !== undefined) notice(event.result ? style.dim(text) : style.yellow(visible(text)));
        return;
      }
      case "tool_execution_start":
        args.set(event.toolCallId, event.args);
        return;
      case "tool_execution_end": {
        const call = { ...event, args: args.get(event.toolCallId) ?? {}, wasAsked: askedMs() > 0 };
        const durationMs = Math.max(0, (event.durationMs ?? 0) - askedMs());
        args.delete(event.toolCallId);
        begin("tool");
        screen.print(formatToolCall({ ...call, durationMs }, screen.columns, style));
        return;
      }
    }
  }

  return {
    follow,
    notice,
    print,
    beginInput: () => begin("input"),
  };
}
