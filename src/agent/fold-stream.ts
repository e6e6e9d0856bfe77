// Chunks → one assistant message, telling observers each step as a delta.
import type { AgentEvent, AssistantMessageEvent } from "../protocol/event.ts";
import type {
  AssistantContent,
  AssistantMessage,
  TextContent,
  ThinkingContent,
  ThinkingLevel,
  ToolCall,
  Usage,
} from "../protocol/message.ts";
import type { Model, ModelCost } from "../protocol/model.ts";
import { emptyUsage } from "../protocol/usage.ts";
import type { Chunk, Provider } from "../providers/provider.ts";
import { toUsage } from "../providers/usage.ts";
import { now } from "../util/clock.ts";
import { AppError, toAppError } from "../util/error.ts";
import { isObject } from "../util/is-object.ts";
import { isCutJson } from "../util/json-scan.ts";

interface OpenCall {
  readonly call: ToolCall;
  readonly contentIndex: number;
  readonly fragments: string[];
}

export interface FoldResult {
  /** The stream's failure, if it had one; the message then holds what had arrived, without any call that was not whole. */
  readonly failure: AppError | undefined;
  /** Calls whose arguments stop in the middle although the stream ended well. */
  readonly cutCalls: ReadonlySet<ToolCall>;
  /** The provider paused the answer: asked again with it in the history, the model goes on. */
  readonly paused: boolean;
}

/** Whose answer it is. */
interface Answerer {
  readonly provider: Provider;
  readonly model: Model;
  readonly thinkingLevel?: ThinkingLevel | undefined;
}

/** An answer before its first chunk; the time is for the caller to set. */
export function emptyAnswer({ provider, model, thinkingLevel }: Answerer): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: provider.api,
    provider: provider.name,
    model: model.id,
    usage: emptyUsage(),
    stopReason: "pending",
    thinkingLevel: thinkingLevel ?? "off",
    timestamp: 0,
  };
}

/**
 * Builds `message` in place from `chunks` and emits `message_start` and its updates; `message_end` is the caller's.
 */
export async function foldStream(
  chunks: AsyncIterable<readonly Chunk[]>,
  message: AssistantMessage,
  prices: ModelCost,
  emit: (event: AgentEvent) => void,
  notify: (text: string) => void = () => {},
): Promise<FoldResult> {
  const cutCalls = new Set<ToolCall>();
  const openCalls = new Map<number, OpenCall>();
  let open: { block: TextContent | ThinkingContent; contentIndex: number } | undefined;
  const began = now();
  let started = false;
  let paused = false;
  let failure: AppError | undefined;

  // The same keys from the first update on, whenever the provider tells its counts.
  let told: Usage = { reasoning: 0, ...message.usage, cost: { ...message.usage.cost, totalFromProvider: false } };

  function update(assistantMessageEvent: AssistantMessageEvent): void {
    emit({ type: "message_update", usage: told, assistantMessageEvent });
  }

  function add(block: AssistantContent): number {
    return message.content.push(block) - 1;
  }

  function closeBlock(): void {
    if (!open) return;
    const { block, contentIndex } = open;
    open = undefined;
    if (block.type === "text") update({ type: "text_end", contentIndex, content: block.text });
    else update({ type: "thinking_end", contentIndex, content: block.thinking });
  }

  function text(delta: string): void {
    if (open?.block.type !== "text") {
      closeBlock();
      const block: TextContent = { type: "text", text: "" };
      open = { block, contentIndex: add(block) };
      update({ type: "text_start", contentIndex: open.contentIndex });
    }
    (open.block as TextContent).text += delta;
    update({ type: "text_delta", contentIndex: open.contentIndex, delta });
  }

  function thinking(delta: string, signature: string | undefined): void {
    if (open?.block.type !== "thinking") {
      closeBlock();
      const block: ThinkingContent = { type: "thinking", thinking: "" };
      open = { block, contentIndex: add(block) };
      update({ type: "thinking_start", contentIndex: open.contentIndex });
    }
    const block = open.block as ThinkingContent;
    if (signature !== undefined) block.thinkingSignature = signature;
    if (delta === "") return;
    block.thinking += delta;
    update({ type: "thinking_delta", contentIndex: open.contentIndex, delta });
  }

  function startCall(index: number, id: string, name: string): void {
    closeBlock();
    const call: ToolCall = { type: "toolCall", id, name, arguments: {} };
    const contentIndex = add(call);
    openCalls.set(index, { call, contentIndex, fragments: [] });
    update({ type: "toolcall_start", contentIndex, id, toolName: name });
  }

  function endCalls(): void {
    for (const { call, contentIndex, fragments } of openCalls.values()) {
      const text = fragments.join("");
      parseArguments(call, text);
      if (call.argumentsError !== undefined && isCutJson(text)) cutCalls.add(call);
      update({ type: "toolcall_end", contentIndex, toolCall: call });
    }
    openCalls.clear();
  }

  function apply(chunk: Chunk): void {
    switch (chunk.type) {
      case "text":
        text(chunk.delta);
        return;
      case "thinking":
        thinking(chunk.delta, chunk.signature);
        return;
      case "redacted_thinking":
        closeBlock();
        add({ type: "thinking", thinking: "", thinkingSignature: chunk.data, redacted: true });
        return;
      case "block_end":
        closeBlock();
        return;
      case "toolcall_start":
        startCall(chunk.index, chunk.id, chunk.name);
        return;
      case "toolcall_delta": {
        const target = openCalls.get(chunk.index);
        if (!target) return;
        target.fragments.push(chunk.delta);
        update({ type: "toolcall_delta", contentIndex: target.contentIndex, delta: chunk.delta });
        return;
      }
      case "toolcall_extra": {
        const target = openCalls.get(chunk.index);
        if (target) target.call.extraContent = chunk.extraContent;
        return;
      }
      case "response":
        message.responseId = chunk.id;
        return;
      case "notice":
        notify(chunk.text);
        return;
      case "usage":
        message.usage = toUsage(chunk.counts, prices);
        told = message.usage;
        return;
      case "end":
        closeBlock();
        endCalls();
        message.stopReason = chunk.reason;
        message.rawStopReason = chunk.raw;
        paused = chunk.paused ?? false;
        return;
      case "error":
        failure = chunk.error;
    }
  }

  function start(): void {
    started = true;
    const { thinkingLevel, ...pending } = message;
    emit({ type: "message_start", message: { ...(failure ? message : pending), content: [] } });
  }

  try {
    for await (const batch of chunks) {
      if (batch.length > 0 && !started && batch[0]?.type !== "error") start();
      for (const chunk of batch) apply(chunk);
    }
    if (!failure && message.stopReason === "pending") {
      failure = new AppError("stream_truncated", "The answer ended without an end", { retryable: true });
    }
  } catch (error) {
    failure = toAppError(error);
  }
  message.durationMs = Math.round(now() - began);
  if (failure) fail(message, failure, openCalls);
  if (!started) start();
  return { failure, cutCalls, paused };
}

function fail(message: AssistantMessage, failure: AppError, openCalls: Map<number, OpenCall>): void {
  const halfDone = new Set<AssistantContent>([...openCalls.values()].map(({ call }) => call));
  message.content = message.content.filter((block) => !halfDone.has(block));
  message.stopReason = failure.code === "aborted" ? "aborted" : "error";
  message.errorMessage = failure.message;
}

/** Sets the call's arguments; nothing but a JSON object counts. An empty text is `{}`, and so is `null`, as servers write no arguments. */
function parseArguments(call: ToolCall, text: string): void {
  if (text.trim() === "") return;
  try {
    const value: unknown = JSON.parse(text) ?? {};
    if (isObject(value)) {
      call.arguments = value;
      return;
    }
    call.argumentsError = `the arguments are not a JSON object: ${text.slice(0, 500)}`;
  } catch (error) {
    call.argumentsError = `the arguments are not valid JSON (${(error as Error).message}): ${text.slice(0, 500)}`;
  }
}
