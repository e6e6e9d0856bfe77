// Short ways to write messages in tests.
import type {
  AssistantContent,
  AssistantMessage,
  ImageContent,
  Message,
  SystemMessage,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "../../src/protocol/message.ts";
import { emptyUsage } from "../../src/protocol/usage.ts";

export function system(content: string): SystemMessage {
  return { role: "system", content, timestamp: 1 };
}

export function user(content: UserMessage["content"]): UserMessage {
  return { role: "user", content, timestamp: 1 };
}

/** Strings become text blocks. */
export function assistant(
  content: readonly (string | AssistantContent)[],
  fields: Partial<AssistantMessage> = {},
): AssistantMessage {
  return {
    role: "assistant",
    content: content.map((block) => (typeof block === "string" ? { type: "text", text: block } : block)),
    api: "scripted",
    provider: "scripted",
    model: "test-model",
    usage: emptyUsage(),
    stopReason: "stop",
    timestamp: 1,
    ...fields,
  };
}

export function toolCall(id: string, name = "bash", args: Record<string, unknown> = {}): ToolCall {
  return { type: "toolCall", id, name, arguments: args };
}

export function toolResult(id: string, text: string, fields: Partial<ToolResultMessage> = {}): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: "bash",
    content: [{ type: "text", text }],
    isError: false,
    timestamp: 1,
    ...fields,
  };
}

/** A conversation in a few words, for comparing: `user hi`, `assistant x +a`, `result a ok`. */
export function outline(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    if (message.role === "bashExecution" || message.role === "branchSummary" || message.role === "compactionSummary") {
      return message.role;
    }
    const blocks: readonly (AssistantContent | ImageContent)[] =
      typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
    const words = blocks.map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "toolCall") return `+${block.id}`;
      return block.type === "thinking" ? `(${block.thinking})` : block.mimeType;
    });
    const head = message.role === "toolResult" ? `result ${message.toolCallId}` : message.role;
    return [head, ...words].join(" ");
  });
}
