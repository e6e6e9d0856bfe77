// Thinking that outlived a compaction. Pure.
import type { Message } from "../protocol/message.ts";
import { bodyStart, isOlderThanSummary } from "./size.ts";

/**
 * The same conversation without the thinking of answers that were given before it was summarized. Newer Claude models tie each thinking
 * block to everything in front of it and refuse one whose past has changed (Anthropic documentation, "Preserved thinking"); they take
 * answers without thinking. Models with a token budget for thinking do not check the past, but want the thinking of an unfinished tool
 * turn back: their messages must not come here.
 */
export function withoutKeptThinking(messages: readonly Message[]): readonly Message[] {
  if (bodyStart(messages) === 0) return messages;
  return messages.map((message) => {
    if (message.role !== "assistant" || message.api !== "anthropic-messages") return message;
    if (!isOlderThanSummary(messages, message)) return message;
    const content = message.content.filter(({ type }) => type !== "thinking");
    return content.length === message.content.length ? message : { ...message, content };
  });
}
