// A conversation as text for the model that summarizes it: results shortened, long messages cut, in pieces that fit a request. Pure.
import type {
  AssistantMessage,
  ImageContent,
  Message,
  ModelMessage,
  TextContent,
  ToolCall,
} from "../protocol/message.ts";
import { headOf } from "../util/truncate.ts";
import { estimateText } from "./estimate.ts";
import { toModelMessages } from "./model-messages.ts";

/** Characters of each kind that are shown. */
const most = { user: 12_000, answer: 8000, call: 1200, result: 2000 } as const;

/** One text a message, none longer than `longest` characters; those that say nothing are left out. */
export function toTranscript(messages: readonly Message[], longest: number): string[] {
  return toModelMessages(messages).flatMap((message) => {
    const [name, text] = describe(message, longest);
    return text.trim() === "" ? [] : [`[${name}]\n${text}`];
  });
}

function describe(message: ModelMessage, longest: number): [name: string, text: string] {
  switch (message.role) {
    case "user":
      return ["User", shorten(textOf(message.content), Math.min(most.user, longest))];
    case "assistant":
      return ["Assistant", shorten(describeAnswer(message), longest)];
    case "toolResult": {
      const text = shorten(textOf(message.content), Math.min(most.result, longest));
      return [`Result of ${message.toolName}${message.isError ? " (failed)" : ""}`, text];
    }
  }
}

export function textOf(content: string | readonly (TextContent | ImageContent)[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : `(image: ${block.mimeType})`)).join("\n");
}

/** Thoughts are left out: what came of them stands in the text and the calls. */
function describeAnswer({ content }: AssistantMessage): string {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const calls = content.filter((block) => block.type === "toolCall").map(describeCall);
  return [shorten(text, most.answer), ...calls].filter((line) => line.trim() !== "").join("\n");
}

function describeCall({ name, arguments: args }: ToolCall): string {
  return `(calls ${name} ${shorten(JSON.stringify(args), most.call)})`;
}

/** The beginning and the end of a text that is longer than `limit`, with what is missing between them told. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = headOf(text, Math.floor(limit * 0.6));
  const tail = text.slice(text.length - Math.floor(limit * 0.3));
  return `${head}\n… (${text.length - head.length - tail.length} characters left out) …\n${tail}`;
}

/** How many of the first parts fit into `tokens`; at least one. */
export function partsThatFit(parts: readonly string[], tokens: number): number {
  let sum = 0;
  for (const [i, text] of parts.entries()) {
    sum += estimateText(text) + 1;
    if (sum > tokens) return Math.max(1, i);
  }
  return parts.length;
}
