// The end of a conversation that goes on, so that the user knows where they are.
import type { Message } from "../../protocol/message.ts";
import { plural } from "../../util/plural.ts";
import { visible } from "../../util/sanitize.ts";
import { describeCall, describeContent } from "../show.ts";
import type { Style } from "../style.ts";

/** How many of the user's messages are shown with what followed, and how many lines of each text. */
const turns = 2;
const maxLines = 12;

/** Whole lines without an end; undefined when nothing was said yet. `look` is how the text of an answer is shown. */
export function recapOf(
  messages: readonly Message[],
  style: Style,
  look: (text: string) => string,
): string | undefined {
  const starts = messages.flatMap(({ role }, position) => (role === "user" ? [position] : []));
  const from = starts.at(-turns) ?? starts[0];
  const shown = messages.slice(from ?? 0).flatMap((message) => describe(message, style, look));
  if (shown.length === 0) return undefined;
  const earlier = starts.filter((position) => position < (from ?? 0)).length;
  const head = earlier > 0 ? [style.dim(`… ${plural(earlier, "earlier message")} of yours`)] : [];
  return [...head, ...shown].join("\n");
}

function describe(message: Message, style: Style, look: (text: string) => string): string[] {
  switch (message.role) {
    case "user":
      return [style.bold(style.cyan("> ")) + inset(shorten(describeContent(message.content)))];
    case "assistant":
      return message.content.flatMap((block) => {
        if (block.type === "toolCall") return [style.dim(`→ ${describeCall(block.name, block.arguments)}`)];
        return block.type === "text" && block.text.trim() !== "" ? [look(shorten(block.text.trim()))] : [];
      });
    case "compactionSummary":
    case "branchSummary":
      return [style.dim(`[summary] ${shorten(message.summary.trim())}`)];
    default:
      return [];
  }
}

function shorten(text: string): string {
  const lines = visible(text).split("\n");
  if (lines.length <= maxLines) return lines.join("\n");
  return [...lines.slice(0, maxLines - 1), `… ${lines.length - maxLines + 1} more lines`].join("\n");
}

function inset(text: string): string {
  return text.replaceAll("\n", "\n  ");
}
