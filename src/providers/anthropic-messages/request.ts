// Messages → the body of POST {base_url}/messages (Anthropic API reference, "Create a Message"). Pure. Pairing calls with results is
// done before (repair-history); here the roles alternate, ids are ones the API takes, and the prompt cache gets its marks.
import type {
  AssistantContent,
  AssistantMessage,
  ImageContent,
  ModelMessage,
  TextContent,
  ToolCall,
  ToolResultMessage,
} from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import { createUniqueIds } from "../../util/unique-ids.ts";
import type { ProviderRequest } from "../provider.ts";
import { toThinking } from "./thinking.ts";

/** Who is asked, in the words a message keeps of its writer. */
export interface Addressee {
  readonly provider: string;
  readonly api: string;
}

type Json = Record<string, unknown>;

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: Json[];
}

/** A mark up to which the API caches the prompt; a request may have four. */
const cacheMark = { cache_control: { type: "ephemeral" } } as const;

/** The JSON body of a request. Signatures go back only to the provider and model that wrote them, tool-call ids unchanged to their provider. */
export function toMessagesBody(request: ProviderRequest, addressee: Addressee): Json {
  const { model, system, tools, temperature } = request;
  const thinking = toThinking(request.thinkingLevel, model, request.maxTokens);
  const body: Json = { model: model.id, stream: true, ...thinking };
  const thinks = thinking.thinking !== undefined && thinking.thinking.type !== "disabled";
  // The API refuses a temperature together with thinking.
  if (temperature !== undefined && !thinks) body.temperature = temperature;
  if (tools.length > 0) {
    const specs = tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
    body.tools = markLast(specs);
  }
  if (!isBlank(system)) body.system = [{ ...text(system), ...cacheMark }];
  body.messages = markTurns(toTurns(request.messages, model, addressee));
  return body;
}

/** Marks the last two user turns: the latest for the next request to find, the one before it because this request finds it there. */
function markTurns(turns: readonly Turn[]): readonly Turn[] {
  const marked = new Set(turns.filter(({ role }) => role === "user").slice(-2));
  return turns.map((turn) => (marked.has(turn) ? { ...turn, content: markLast(turn.content) } : turn));
}

function markLast(items: readonly Json[]): Json[] {
  return items.map((item, i) => (i === items.length - 1 ? { ...item, ...cacheMark } : item));
}

function toTurns(messages: readonly ModelMessage[], model: Model, addressee: Addressee): Turn[] {
  const turns: Turn[] = [];
  const ids = createIdTable(messages, addressee);
  for (const message of messages) {
    switch (message.role) {
      case "user": {
        const content = typeof message.content === "string" ? [text(message.content)] : message.content;
        addUser(turns, toBlocks(content, model));
        break;
      }
      case "assistant":
        addAssistant(turns, toAssistantBlocks(message, model, addressee, ids.sentCalls(message)));
        break;
      case "toolResult":
        addUser(turns, [toResultBlock(message, model, ids.sentResult(message.toolCallId))]);
    }
  }
  if (turns.at(-1)?.role === "assistant") addUser(turns, [goOn]);
  return turns;
}

/** Stands between two answers, or behind one the provider paused: newer models take no conversation that ends with their own words. */
const goOn = text("Continue.");

function addAssistant(turns: Turn[], content: Json[]): void {
  if (content.length === 0) return;
  if (turns.at(-1)?.role === "assistant") addUser(turns, [goOn]);
  turns.push({ role: "assistant", content });
}

/** Adjacent user content is one turn, in which the results of calls come first. */
function addUser(turns: Turn[], content: Json[]): void {
  if (content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== "user") turns.push({ role: "user", content });
  else {
    const results = last.content.findLastIndex(isResult) + 1;
    last.content.splice(results, 0, ...content.filter(isResult));
    last.content.push(...content.filter((block) => !isResult(block)));
  }
}

function isResult(block: Json): boolean {
  return block.type === "tool_result";
}

function toAssistantBlocks(
  message: AssistantMessage,
  model: Model,
  addressee: Addressee,
  idOf: (call: ToolCall) => string,
): Json[] {
  const signed = isOwn(message, addressee) && message.model === model.id;
  return message.content.flatMap((block) => toAssistantBlock(block, signed, idOf));
}

function toAssistantBlock(block: AssistantContent, signed: boolean, idOf: (call: ToolCall) => string): Json[] {
  switch (block.type) {
    case "text":
      return isBlank(block.text) ? [] : [text(block.text)];
    case "thinking":
      return signed ? toThinkingBlock(block) : [];
    case "toolCall":
      return [{ type: "tool_use", id: idOf(block), name: block.name, input: block.arguments }];
  }
}

/** A block cut off before its signature cannot go back. */
function toThinkingBlock({ thinking, thinkingSignature, redacted }: AssistantContent & { type: "thinking" }): Json[] {
  if (!thinkingSignature) return [];
  if (redacted) return [{ type: "redacted_thinking", data: thinkingSignature }];
  return [{ type: "thinking", thinking, signature: thinkingSignature }];
}

function toResultBlock(message: ToolResultMessage, model: Model, id: string): Json {
  const content = toBlocks(message.content, model);
  return {
    type: "tool_result",
    tool_use_id: id,
    ...(content.length > 0 ? { content } : {}),
    ...(message.isError ? { is_error: true } : {}),
  };
}

const imageTypes = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** Blank texts are left out, since the API refuses them; an image it would refuse is named instead. */
function toBlocks(content: readonly (TextContent | ImageContent)[], model: Model): Json[] {
  return content.flatMap((block): Json[] => {
    if (block.type === "text") return isBlank(block.text) ? [] : [text(block.text)];
    const { data, mimeType } = block;
    if (!model.input.includes("image") || !imageTypes.has(mimeType)) return [text(`[image: ${mimeType}]`)];
    return [{ type: "image", source: { type: "base64", media_type: mimeType, data } }];
  });
}

function text(value: string): TextContent {
  return { type: "text", text: value };
}

function isBlank(value: string): boolean {
  return value.trim() === "";
}

function isOwn(message: AssistantMessage, { provider, api }: Addressee): boolean {
  return message.provider === provider && message.api === api;
}

const longestId = 64;

/**
 * The ids that go out. The provider's own stay byte for byte; others become ones that the API takes (`^[a-zA-Z0-9_-]+$`, unique in the
 * conversation). Ids are looked up in the order of the messages: a result belongs to the answer before it.
 */
function createIdTable(messages: readonly ModelMessage[], addressee: Addressee) {
  const ownIds = messages.flatMap((message) =>
    message.role === "assistant" && isOwn(message, addressee)
      ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
      : [],
  );
  const unique = createUniqueIds(ownIds);
  let current = new Map<string, string>();
  return {
    /** Begins an answer. */
    sentCalls(message: AssistantMessage): (call: ToolCall) => string {
      const own = isOwn(message, addressee);
      current = new Map();
      return ({ id }) => {
        const sent = own ? id : unique(id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, longestId) || "call");
        current.set(id, sent);
        return sent;
      };
    },
    sentResult: (id: string): string => current.get(id) ?? id,
  };
}
