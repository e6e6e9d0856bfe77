// Tokens guessed from text, for what no provider has counted. Pure.
import type { AssistantContent, ImageContent, Message, ToolSpec } from "../protocol/message.ts";
import { utf8Length } from "../util/utf8.ts";
import { toModelMessages } from "./model-messages.ts";

/** Four bytes of UTF-8 a token: near the truth for English and code, on the safe side for most other scripts. */
const bytesPerToken = 4;
/** What a picture costs at the sizes that providers scale it to. */
const imageTokens = 1500;
/** The wrapping of a message, call or tool. */
const wrapperTokens = 4;

export function estimateText(text: string): number {
  return Math.ceil(utf8Length(text) / bytesPerToken);
}

export interface MessageEstimate {
  readonly text: number;
  readonly images: number;
}

/** Messages do not change once they are in a conversation. */
const known = new WeakMap<Message, MessageEstimate>();

/** What a message adds to a request; nothing for a system message, which is counted with the prompt. */
export function estimateMessage(message: Message): MessageEstimate {
  const before = known.get(message);
  if (before) return before;
  let [text, images] = [0, 0];
  for (const { content } of toModelMessages([message])) {
    text += wrapperTokens;
    if (typeof content === "string") text += estimateText(content);
    else {
      for (const block of content) {
        if (block.type === "image") images += imageTokens;
        else text += estimateBlock(block);
      }
    }
  }
  const result = { text, images };
  known.set(message, result);
  return result;
}

function estimateBlock(block: Exclude<AssistantContent | ImageContent, ImageContent>): number {
  if (block.type === "text") return estimateText(block.text);
  if (block.type === "thinking") return estimateText(block.thinking);
  return wrapperTokens + estimateText(block.name) + estimateText(JSON.stringify(block.arguments));
}

export function estimateTokens(messages: readonly Message[]): number {
  let tokens = 0;
  for (const message of messages) {
    const { text, images } = estimateMessage(message);
    tokens += text + images;
  }
  return tokens;
}

/** Neither does what describes a tool. */
const knownTools = new WeakMap<ToolSpec, number>();

function estimateTool(tool: ToolSpec): number {
  const before = knownTools.get(tool);
  if (before !== undefined) return before;
  const { name, description, parameters } = tool;
  const result = wrapperTokens + estimateText(JSON.stringify({ name, description, parameters }));
  knownTools.set(tool, result);
  return result;
}

/** What every request carries: the system prompt and the tools. */
export function estimateOverhead(system: string, tools: readonly ToolSpec[]): number {
  let tokens = estimateText(system);
  for (const tool of tools) tokens += estimateTool(tool);
  return tokens;
}
