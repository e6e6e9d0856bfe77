// Values for the tests of the Messages adapter.
import type { AssistantMessage, ModelMessage, ToolResultMessage, UserMessage } from "../../../src/protocol/message.ts";
import type { Model } from "../../../src/protocol/model.ts";
import { emptyUsage } from "../../../src/protocol/usage.ts";
import type { ProviderRequest } from "../../../src/providers/provider.ts";

export const api = "anthropic-messages";
export const addressee = { provider: "anthropic", api };

export function testModel(fields: Partial<Model> = {}): Model {
  return {
    id: "claude-test",
    name: "Claude Test",
    api,
    provider: "anthropic",
    baseUrl: "http://127.0.0.1/v1",
    reasoning: true,
    input: ["text", "image"],
    cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    contextWindow: 200_000,
    maxTokens: 64_000,
    ...fields,
  };
}

export function testRequest(fields: Partial<ProviderRequest> = {}): ProviderRequest {
  return { model: testModel(), system: "", messages: [user("hi")], tools: [], maxTokens: 8192, ...fields };
}

export function user(content: UserMessage["content"]): ModelMessage {
  return { role: "user", content, timestamp: 0 };
}

/** By default the answer of the model asked now. */
export function assistant(
  content: AssistantMessage["content"],
  from: Partial<Pick<AssistantMessage, "provider" | "api" | "model">> = {},
): AssistantMessage {
  return {
    role: "assistant",
    content,
    provider: "anthropic",
    api,
    model: "claude-test",
    usage: emptyUsage(),
    stopReason: "stop",
    timestamp: 0,
    ...from,
  };
}

export function call(id: string, args: Record<string, unknown> = {}): AssistantMessage["content"][number] {
  return { type: "toolCall", id, name: "read", arguments: args };
}

export function result(
  toolCallId: string,
  content: string | ToolResultMessage["content"],
  isError = false,
): ToolResultMessage {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return { role: "toolResult", toolCallId, toolName: "read", content: blocks, isError, timestamp: 0 };
}
