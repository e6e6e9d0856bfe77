// The history as a provider accepts it: run before every request, so that no crash, abort or old session can make one unsendable. Pure.
import { toModelMessages } from "../context/model-messages.ts";
import type {
  AssistantMessage,
  Message,
  ModelMessage,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "../protocol/message.ts";

const interrupted = "Error: interrupted before it finished; there is no result";
const noOutput = "(no output)";

/**
 * The same conversation in which every tool call has exactly one result directly behind its message (made up where it is missing),
 * results without a call are gone, blank texts are gone or have a placeholder, answers that failed are gone, and every string is
 * well-formed Unicode without NUL. Messages that need no change are the same objects, so the prefix stays byte-stable.
 */
export function repairHistory(history: readonly Message[]): ModelMessage[] {
  const messages = toModelMessages(history);
  const repaired: ModelMessage[] = [];
  const results = collectResults(messages);
  messages.forEach((message, position) => {
    switch (message.role) {
      case "toolResult":
        return;
      case "user": {
        const user = repairUser(message);
        if (user) repaired.push(user);
        return;
      }
      case "assistant": {
        const assistant = repairAssistant(message);
        if (!assistant) return;
        repaired.push(assistant);
        for (const block of assistant.content) {
          if (block.type === "toolCall")
            repaired.push(results(position, block) ?? missingResult(block, message.timestamp));
        }
      }
    }
  });
  trimLastAnswer(repaired);
  return repaired;
}

/** The result of a call is the first one with its id after the call's message and before the next answer. */
function collectResults(
  messages: readonly ModelMessage[],
): (position: number, call: ToolCall) => ToolResultMessage | undefined {
  return (position, call) => {
    for (let i = position + 1; i < messages.length; i++) {
      const message = messages[i];
      if (message?.role === "assistant" && message.stopReason !== "error") return undefined;
      if (message?.role === "toolResult" && message.toolCallId === call.id) return repairResult(message);
    }
    return undefined;
  };
}

function repairUser(message: UserMessage): UserMessage | undefined {
  if (typeof message.content === "string") {
    const content = cleanText(message.content);
    if (content.trim() === "") return undefined;
    return content === message.content ? message : { ...message, content };
  }
  const content = cleanBlocks(message.content);
  if (content.length === 0) return undefined;
  return content === message.content ? message : { ...message, content };
}

function repairAssistant(message: AssistantMessage): AssistantMessage | undefined {
  if (message.stopReason === "error") return undefined;
  const content = cleanBlocks(message.content);
  if (!content.some((block) => block.type !== "thinking")) return undefined;
  return content === message.content ? message : { ...message, content };
}

function repairResult(message: ToolResultMessage): ToolResultMessage {
  const content = cleanBlocks(message.content);
  if (content.length === 0) return { ...message, content: [{ type: "text", text: noOutput }] };
  return content === message.content ? message : { ...message, content };
}

function missingResult(call: ToolCall, timestamp: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text: interrupted }],
    isError: true,
    timestamp,
  };
}

/** Blocks without blank texts, each text clean; the same array when nothing had to change. */
function cleanBlocks<Block extends { type: string }>(blocks: Block[]): Block[] {
  let changed = false;
  const cleaned: Block[] = [];
  for (const block of blocks) {
    const next = cleanBlock(block);
    if (next !== block) changed = true;
    if (next) cleaned.push(next);
  }
  return changed ? cleaned : blocks;
}

function cleanBlock<Block extends { type: string }>(block: Block): Block | undefined {
  if (block.type === "text" && "text" in block && typeof block.text === "string") {
    const text = cleanText(block.text);
    if (text.trim() === "") return undefined;
    return text === block.text ? block : { ...block, text };
  }
  if (block.type === "thinking" && "thinking" in block && typeof block.thinking === "string") {
    const thinking = cleanText(block.thinking);
    return thinking === block.thinking ? block : { ...block, thinking };
  }
  if (block.type === "toolCall" && "arguments" in block) {
    const args = cleanValue(block.arguments);
    return args === block.arguments ? block : { ...block, arguments: args };
  }
  return block;
}

/** A JSON value with every string in it clean; the same value when nothing had to change. */
function cleanValue(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value !== "object" || value === null) return value;
  const text = JSON.stringify(value);
  if (!/\\u0000|\\ud[89a-f]/i.test(text)) return value;
  if (Array.isArray(value)) return value.map(cleanValue);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), cleanValue(item)]));
}

/** Well-formed Unicode without NUL. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "") : wellFormed;
}

/** Some providers refuse a history that ends with an answer ending in white space. */
function trimLastAnswer(messages: ModelMessage[]): void {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return;
  const block = last.content.at(-1);
  if (block?.type !== "text" || block.text === block.text.trimEnd()) return;
  messages[messages.length - 1] = {
    ...last,
    content: [...last.content.slice(0, -1), { ...block, text: block.text.trimEnd() }],
  };
}
