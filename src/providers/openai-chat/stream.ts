// Chat-completion stream events → chunks. Pure: bytes, time and the network are elsewhere.
import { AppError } from "../../util/error.ts";
import { toStreamError } from "../http-error.ts";
import type { Chunk, TokenCounts } from "../provider.ts";
import { type EventReader, malformedEvent, truncated } from "../stream-response.ts";
import type { ChatChunk, ChatDelta, ChatUsage } from "./schema.ts";
import { createToolCallAssembler } from "./tool-calls.ts";

/**
 * Reads one answer. `end` is held back until `[DONE]` or the end of the body, since usage may come after the finish reason.
 * `hide` takes keys out of what a server says of a failure.
 */
export function createChatReader(hide: (text: string) => string): EventReader {
  const calls = createToolCallAssembler();
  let sawEvent = false;
  let sawId = false;
  let finishReason: string | undefined;
  let finished = false;
  let settled = false;

  function fail(error: AppError): Chunk[] {
    settled = true;
    return [{ type: "error", error }];
  }

  function end(): Chunk[] {
    const raw = finishReason ?? "stop";
    const broken = brokenReasons[raw];
    if (broken) return fail(new AppError("stream_error", broken, { retryable: raw !== "content_filter" }));
    settled = true;
    return [...calls.close(), { type: "end", reason: toReason(raw, calls.count()), raw }];
  }

  function readDelta(delta: ChatDelta, out: Chunk[]): void {
    const { reasoning_content, reasoning, content, refusal, tool_calls } = delta;
    if (reasoning_content) out.push({ type: "thinking", delta: reasoning_content, signature: "reasoning_content" });
    else if (reasoning) out.push({ type: "thinking", delta: reasoning, signature: "reasoning" });
    if (content) out.push({ type: "text", delta: content });
    if (refusal) out.push({ type: "text", delta: refusal });
    if (tool_calls) for (const call of tool_calls) calls.push(call, out);
  }

  return {
    push(data, eventName) {
      if (settled || data === "") return [];
      sawEvent = true;
      if (data === "[DONE]") {
        finished = true;
        return end();
      }
      const chunk = parseChunk(data);
      if (chunk === undefined) return fail(malformedEvent(hide(data)));
      if (chunk.error != null && chunk.error !== false) return fail(readError(chunk.error, hide));
      // Some servers name the failure beside its words instead of around them.
      if (eventName === "error" || chunk.object === "error") return fail(readError(chunk, hide));
      const out: Chunk[] = [];
      if (!sawId && chunk.id) {
        sawId = true;
        out.push({ type: "response", id: chunk.id });
      }
      if (chunk.usage) out.push({ type: "usage", counts: toCounts(chunk.usage) });
      for (const choice of chunk.choices ?? []) {
        if (choice.usage) out.push({ type: "usage", counts: toCounts(choice.usage) });
        if (choice.delta) readDelta(choice.delta, out);
        if (choice.finish_reason) {
          finished = true;
          finishReason = choice.finish_reason;
        }
      }
      return out;
    },
    close() {
      if (settled) return [];
      if (!sawEvent)
        return fail(new AppError("stream_empty", "The provider sent an empty stream", { retryable: true }));
      if (!finished) return fail(truncated());
      return end();
    },
  };
}

/** Finish reasons that mean there is no whole answer. */
const brokenReasons: Readonly<Record<string, string>> = {
  error: "The provider ended the answer with an error",
  network_error: "The provider lost its connection to the model",
  content_filter: "The provider's content filter stopped the answer",
};

function toReason(raw: string, calls: number): "stop" | "length" | "toolUse" {
  if (raw === "length" || raw === "max_tokens") return "length";
  return calls > 0 ? "toolUse" : "stop";
}

function parseChunk(data: string): ChatChunk | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function readError(error: unknown, hide: (text: string) => string): AppError {
  if (typeof error !== "object" || error === null) return toStreamError(undefined, hide(String(error)));
  const { code, status } = error as { code?: unknown; status?: unknown };
  const number = [code, status].map(Number).find((value) => value >= 400 && value < 600);
  return toStreamError(number, hide(JSON.stringify(error)));
}

/** OpenAI's convention: the prompt count includes cached tokens. DeepSeek and Moonshot name the cached part differently. */
function toCounts(usage: ChatUsage): TokenCounts {
  const prompt = usage.prompt_tokens ?? 0;
  const details = usage.prompt_tokens_details;
  const cached = details?.cached_tokens ?? usage.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  const cacheRead = Math.min(cached, prompt);
  const cacheWrite = Math.min(details?.cache_write_tokens ?? 0, prompt - cacheRead);
  return {
    input: prompt - cacheRead - cacheWrite,
    output: usage.completion_tokens ?? 0,
    cacheRead,
    cacheWrite,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
