// What must hold for a conversation that is sent to a provider. Pure; gives problems in words.
import type { ModelMessage } from "../../src/protocol/message.ts";

/** The problems of a repaired history; none for a good one. */
export function checkHistory(messages: readonly ModelMessage[]): string[] {
  const problems: string[] = [];
  let open: string[] = [];
  messages.forEach((message, position) => {
    const where = `${position} (${message.role})`;
    if (message.role === "toolResult") {
      if (open[0] !== message.toolCallId)
        problems.push(`${where}: result of ${message.toolCallId}, expected ${open[0]}`);
      open = open.slice(1);
    } else if (open.length > 0) {
      problems.push(`${where}: no result for ${open.join(", ")}`);
      open = [];
    }
    if (message.role === "assistant") {
      const calls = message.content.filter((block) => block.type === "toolCall");
      open = calls.map(({ id }) => id);
      if (open.includes("")) problems.push(`${where}: a call without an id`);
      if (new Set(open).size < open.length) problems.push(`${where}: two calls with one id`);
      for (const { name } of calls) {
        if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) problems.push(`${where}: a name that cannot be sent: ${name}`);
      }
      if (message.stopReason === "error") problems.push(`${where}: an answer that failed`);
      if (message.content.every(({ type }) => type === "thinking")) problems.push(`${where}: nothing but thinking`);
    }
    const content: readonly { type: string; text?: unknown }[] =
      typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    if (content.length === 0) problems.push(`${where}: no content`);
    for (const { type, text } of content) {
      if (type === "text" && String(text).trim() === "") problems.push(`${where}: a blank text`);
    }
    const json = JSON.stringify(message);
    // JSON escapes a lone surrogate and a NUL; a pair stays as it is.
    if (/\\ud[89a-f]/i.test(json)) problems.push(`${where}: not well-formed Unicode`);
    if (/\\u0000/.test(json)) problems.push(`${where}: a NUL character`);
  });
  if (open.length > 0) problems.push(`end: no result for ${open.join(", ")}`);
  const last = messages.at(-1);
  if (last?.role === "assistant") {
    const block = last.content.at(-1);
    if (block?.type === "text" && block.text !== block.text.trimEnd())
      problems.push("end: white space behind the last answer");
  }
  return problems;
}
