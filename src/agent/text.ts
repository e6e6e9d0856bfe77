// Messages as plain text.
import type { AssistantMessage, SystemMessage } from "../protocol/message.ts";

/** What an answer says. */
export function textOf(message: AssistantMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** A system message as one text: its content, then its sections in order. */
export function promptText(system: SystemMessage): string {
  const content =
    typeof system.content === "string" ? system.content : system.content.map(({ text }) => text).join("\n");
  return [content, ...Object.values(system.sections ?? {})].filter((part) => part).join("\n\n");
}
