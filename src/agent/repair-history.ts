// The history as a provider accepts it: run before every request, so that no crash, abort or old session can make one unsendable. Pure.
import { toModelMessages } from "../context/model-messages.ts";
import type {
  AssistantContent,
  AssistantMessage,
  Message,
  ModelMessage,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "../protocol/message.ts";
import { createUniqueIds } from "../util/unique-ids.ts";

const interrupted = "Error: interrupted before it finished; there is no result";
const noOutput = "(no output)";

/**
 * The same conversation in which every tool call has exactly one result directly behind its message (made up where it is missing),
 * results without a call are gone, blank texts are gone or have a placeholder, answers that failed are gone, every string is well-formed
 * Unicode without NUL, and calls have names that can be sent and ids of their own in their answer. Messages that need no change are the same
 * objects, so the prefix stays byte-stable.
 */
export function repairHistory(history: readonly Message[]): ModelMessage[] {
  const messages = toModelMessages(history);
  const repaired: ModelMessage[] = [];
  const idsBefore = new Set<string>();
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
        const assistant = repairAssistant(message, idsBefore);
        if (!assistant) return;
        repaired.push(assistant);
        const asked = callsOf(message);
        callsOf(assistant).forEach((call, i) => {
          const { id } = asked[i] ?? call;
          const sameBefore = asked.slice(0, i).filter((other) => other.id === id).length;
          const known = findResult(messages, position, id, sameBefore);
          repaired.push(known ? repairResult(known, call) : missingResult(call, message.timestamp));
          idsBefore.add(call.id);
        });
      }
    }
  });
  trimLastAnswer(repaired);
  return repaired;
}

function callsOf({ content }: AssistantMessage): ToolCall[] {
  return content.filter((block) => block.type === "toolCall");
}

/**
 * The result of a call is the first one with its id after the call's message and before the next answer; of several calls with one id, each
 * has the next.
 */
function findResult(
  messages: readonly ModelMessage[],
  position: number,
  id: string,
  sameBefore: number,
): ToolResultMessage | undefined {
  let passed = 0;
  for (let i = position + 1; i < messages.length; i++) {
    const message = messages[i];
    if (message?.role === "assistant" && message.stopReason !== "error") return undefined;
    if (message?.role === "toolResult" && message.toolCallId === id && passed++ === sameBefore) return message;
  }
  return undefined;
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

function repairAssistant(message: AssistantMessage, idsBefore: ReadonlySet<string>): AssistantMessage | undefined {
  if (message.stopReason === "error") return undefined;
  const content = identifyCalls(cleanBlocks(message.content), idsBefore);
  if (!content.some((block) => block.type !== "thinking")) return undefined;
  return content === message.content ? message : { ...message, content };
}

function repairResult(message: ToolResultMessage, { id, name }: ToolCall): ToolResultMessage {
  const cleaned = cleanBlocks(message.content);
  const content: typeof cleaned = cleaned.length > 0 ? cleaned : [{ type: "text", text: noOutput }];
  const isGood = content === message.content && id === message.toolCallId && isSendableName(message.toolName);
  return isGood ? message : { ...message, toolCallId: id, toolName: name, content };
}

const sendableName = /^[A-Za-z0-9_-]{1,64}$/;
const isSendableName = (name: string) => sendableName.test(name);

/** A name that the model made up, as near to it as providers take. */
function toSendableName(name: string): string {
  return isSendableName(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed_tool";
}

/** The same blocks with names that can be sent, and with clean ids that differ; what a provider gave stays wherever that is possible. */
function identifyCalls(blocks: AssistantContent[], idsBefore: ReadonlySet<string>): AssistantContent[] {
  const ids = blocks.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  const isKept = (id: string, i: number) => id !== "" && cleanText(id) === id && ids.indexOf(id) === i;
  const kept = ids.filter(isKept);
  const isGood = (block: AssistantContent) => block.type !== "toolCall" || isSendableName(block.name);
  if (kept.length === ids.length && blocks.every(isGood)) return blocks;
  const unique = createUniqueIds([...kept, ...idsBefore]);
  const sent = ids.map((id, i) => (isKept(id, i) ? id : unique(cleanText(id) || "call")));
  return blocks.map((block) =>
    block.type === "toolCall" ? { ...block, id: sent.shift() ?? block.id, name: toSendableName(block.name) } : block,
  );
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
