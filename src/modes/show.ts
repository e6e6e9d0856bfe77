// How a run's steps look to a person: one line a tool call, one text an error. Shared by the modes people read.
import type { App } from "../app/app.ts";
import type { AgentEvent, ToolResult } from "../protocol/event.ts";
import type { ToolCall } from "../protocol/message.ts";
import { grouped } from "../util/numbers.ts";
import { visible, visibleLine } from "../util/sanitize.ts";
import { shellQuote } from "../util/shell-quote.ts";
import { oneLine } from "../util/truncate.ts";
import type { Io } from "./io.ts";

/** Text as a person on a terminal may safely see it; a pipe or file gets it as it is. */
export function forReader(text: string, io: Pick<Io, "isTerminal">): string {
  return io.isTerminal(1) ? visible(text) : text;
}

/** A call in one line: the tool and what it is about. */
export function describeCall(name: string, args: ToolCall["arguments"]): string {
  const subject = args.command ?? args.path ?? args.pattern ?? "";
  const text =
    typeof subject === "string" && subject !== "" ? subject : Object.keys(args).length > 0 ? JSON.stringify(args) : "";
  return `${visibleLine(name)} ${visibleLine(oneLine(text, 160))}`.trimEnd();
}

/** What a message says, with `[image]` and its like for what is no text. */
export function describeContent(content: string | readonly { readonly type: string }[]): string {
  if (typeof content === "string") return content;
  return content
    .map((block) => ("text" in block && typeof block.text === "string" ? block.text : `[${block.type}]`))
    .join("\n");
}

/** How a command ended, as `exit code 3`; undefined for a result that is not of a command, or of one that was ended. */
export function describeExit({ structuredContent }: ToolResult): string | undefined {
  const facts = structuredContent as { exit_code?: unknown; signal?: unknown } | undefined;
  if (typeof facts?.exit_code !== "number") return undefined;
  return `exit code ${facts.exit_code}${typeof facts.signal === "string" ? ` (${visibleLine(facts.signal)})` : ""}`;
}

/** What came of a compaction, in one line; undefined for one that was stopped, or whose failure the command that asked for it tells. */
export function describeCompaction({
  reason,
  result,
  errorMessage,
}: AgentEvent & { type: "compaction_end" }): string | undefined {
  if (!result) return reason === "manual" || errorMessage === undefined ? undefined : oneLine(errorMessage, 300);
  const [before, after] = [result.tokensBefore, result.estimatedTokensAfter ?? 0].map(grouped);
  return `compacted: ${before} → about ${after} tokens`;
}

/** Who goes on, and why the one before did not. */
export function describeFallback({ from, to, errorMessage }: AgentEvent & { type: "model_fallback" }): string {
  return `${oneLine(errorMessage, 300)}\n  ${from.provider}/${from.modelId} does not answer; going on with ${to.provider}/${to.modelId}`;
}

/** Which session it is, and how to take it up again. */
export function describeSession(app: App): string {
  const session = app.session();
  const handle = visibleLine(app.sessions?.handleOf(session) ?? session.id);
  // A path may have what a shell would take apart.
  const word = /^[\w./-]+$/.test(handle) ? handle : shellQuote(handle);
  return `session ${visibleLine(session.id)} (pi-ts --resume ${word} goes on)`;
}
