// Messages → the body of POST {base_url}/chat/completions (OpenAI API reference, "Create chat completion"). Pure.
import type {
  AssistantMessage,
  ImageContent,
  ModelMessage,
  TextContent,
  ToolCall,
  ToolResultMessage,
  ToolSpec,
  UserMessage,
} from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import type { ProviderRequest, ProviderSettings } from "../provider.ts";
import type { Quirks } from "../quirks.ts";
import { toGeminiTools } from "./gemini-schema.ts";
import { reasoningFields } from "./schema.ts";
import { toThinking } from "./thinking.ts";

export const openaiCompletions = "openai-completions";

/** What of the settings shapes a request. */
export type ChatDialect = Pick<ProviderSettings, "name" | "quirks">;

export interface ChatBody {
  readonly body: Readonly<Record<string, unknown>>;
  /** What had to be left out. */
  readonly warnings: readonly string[];
}

/** The JSON body of a request; what only its writer understands (reasoning, extra content) goes back to that provider alone. */
export function toChatBody(request: ProviderRequest, dialect: ChatDialect): ChatBody {
  const { quirks } = dialect;
  const { tools, warnings } = toChatTools(request.tools, quirks);
  const body = {
    model: request.model.id,
    messages: toChatMessages(request, dialect),
    stream: true,
    ...(quirks.streamUsage ? { stream_options: { include_usage: true } } : {}),
    [quirks.maxTokensField]: request.maxTokens,
    ...(tools.length > 0 ? { tools } : {}),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...toThinking(request.thinkingLevel, request.model, quirks.thinking),
  };
  return { body, warnings };
}

function toChatTools(tools: readonly ToolSpec[], quirks: Quirks): { tools: unknown[]; warnings: readonly string[] } {
  const converted = quirks.toolSchema === "gemini" ? toGeminiTools(tools) : { tools, warnings: [] };
  const strict = quirks.strictTools === "false" ? { strict: false } : {};
  return {
    // Only what the API knows of a tool, whatever else the specification carries.
    tools: converted.tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, ...(parameters ? { parameters } : {}), ...strict },
    })),
    warnings: converted.warnings,
  };
}

function toChatMessages(request: ProviderRequest, dialect: ChatDialect): unknown[] {
  const messages: unknown[] = [];
  if (request.system !== "") messages.push({ role: dialect.quirks.systemRole, content: request.system });
  let images: ImageContent[] = [];
  request.messages.forEach((message, position) => {
    messages.push(toChatMessage(message, request, dialect));
    if (message.role !== "toolResult" || !request.model.input.includes("image")) return;
    images.push(...message.content.filter((block) => block.type === "image"));
    // Results may hold nothing but text on this wire; their images follow in the user's name, behind the last result.
    if (images.length === 0 || request.messages[position + 1]?.role === "toolResult") return;
    messages.push({ role: "user", content: [{ type: "text", text: imageNote }, ...images.map(toImagePart)] });
    images = [];
  });
  return messages;
}

const imageNote = "The images that the tools above returned:";

function toImagePart({ mimeType, data }: ImageContent): unknown {
  return { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } };
}

function toChatMessage(message: ModelMessage, { model }: ProviderRequest, dialect: ChatDialect): unknown {
  switch (message.role) {
    case "user":
      return { role: "user", content: toUserContent(message, model) };
    case "assistant":
      return toAssistant(message, dialect, model);
    case "toolResult":
      return { role: "tool", tool_call_id: message.toolCallId, content: toResultText(message) };
  }
}

function toUserContent({ content }: UserMessage, { input }: Model): unknown {
  if (typeof content === "string") return content;
  const hasImages = input.includes("image") && content.some((block) => block.type === "image");
  if (!hasImages) return content.map(toWords).join("\n");
  return content.map((block) => (block.type === "text" ? { type: "text", text: block.text } : toImagePart(block)));
}

/** A block as text; an image is only named. */
function toWords(block: TextContent | ImageContent): string {
  return block.type === "text" ? block.text : `[image: ${block.mimeType}]`;
}

function toAssistant(message: AssistantMessage, { name, quirks }: ChatDialect, model: Model): unknown {
  const isOwn = message.provider === name && message.api === openaiCompletions;
  let text = "";
  let reasoning = "";
  let reasoningField: string = reasoningFields[0];
  const calls: unknown[] = [];
  for (const block of message.content) {
    if (block.type === "text") text += block.text;
    else if (block.type === "toolCall") calls.push(toChatCall(block, isOwn));
    else if (isOwn) {
      reasoning += block.thinking;
      reasoningField = reasoningFields.find((field) => field === block.thinkingSignature) ?? reasoningField;
    }
  }
  const required = quirks.reasoningReplay === "required" && model.reasoning;
  const withReasoning = quirks.reasoningReplay !== "never" && (reasoning !== "" || required);
  return {
    role: "assistant",
    ...(text === "" ? noText[quirks.callsOnlyContent] : { content: text }),
    ...(withReasoning ? { [reasoningField]: reasoning } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

const noText = { null: { content: null }, empty: { content: "" }, omit: {} } as const;

function toChatCall(call: ToolCall, isOwn: boolean): unknown {
  return {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    ...(isOwn && call.extraContent !== undefined ? { extra_content: call.extraContent } : {}),
  };
}

function toResultText(message: ToolResultMessage): string {
  return message.content.map(toWords).join("\n");
}
