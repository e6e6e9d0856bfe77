// Chat-completion stream events → chunks. Pure: bytes, time and the network are elsewhere.
import { AppError } from "../../util/error.ts";
import { isObject } from "../../util/is-object.ts";
import { addChunk, addText, type Batch } from "../batch.ts";
import type { CallIds } from "../call-ids.ts";
import { readStreamError } from "../http-error.ts";
import { joinText, type Loose, toNumber, toObject, toObjects, toText } from "../json-fields.ts";
import type { Chunk, TokenCounts } from "../provider.ts";
import { type EventReader, emptyStream, parseEvent, toStopReason, truncated } from "../stream-response.ts";
import type { ChatChoice, ChatChunk, ChatDelta, ChatToolCallDelta, ChatUsage, ReasoningField } from "./schema.ts";
import { createToolCallAssembler } from "./tool-calls.ts";

/**
 * Reads one answer. `end` is held back until `[DONE]` or the end of the body, since usage may come after the finish reason.
 * `hide` takes keys out of what a server says of a failure.
 */
export function createChatReader(hide: (text: string) => string, callIds: CallIds): EventReader {
  const calls = createToolCallAssembler(callIds);
  let sawEvent = false;
  let sawId = false;
  let sawDelta = false;
  let finishReason = "";
  let finished = false;
  let settled = false;

  function fail(error: AppError): Chunk[] {
    settled = true;
    return [{ type: "error", error }];
  }

  function end(): Chunk[] {
    const raw = finishReason || "stop";
    const broken = brokenReasons[raw];
    if (broken) return fail(new AppError("stream_error", broken, { retryable: raw !== "content_filter" }));
    settled = true;
    const isCut = raw === "length" || raw === "max_tokens";
    return [...calls.close(), { type: "end", reason: toStopReason(isCut, calls.count()), raw }];
  }

  function readId(value: unknown, out: Batch): void {
    const id = toText(value);
    if (id === "") return;
    sawId = true;
    out.push({ type: "response", id });
  }

  function readChoice(choice: Loose<ChatChoice>, out: Batch): void {
    if (choice.usage != null) readUsage(choice.usage, out);
    // A whole answer may come instead of a stream; behind a stream it only says everything again.
    const delta = toObject<ChatDelta>(choice.delta) ?? (sawDelta ? undefined : toObject<ChatDelta>(choice.message));
    if (delta) {
      sawDelta = true;
      readDelta(delta, out);
    }
    if (choice.finish_reason != null) readReason(toText(choice.finish_reason));
  }

  function readReason(reason: string): void {
    if (reason === "") return;
    finished = true;
    finishReason = reason;
  }

  function readReasoning(delta: Loose<ChatDelta>, out: Batch): void {
    const field: ReasoningField = delta.reasoning_content ? "reasoning_content" : "reasoning";
    const thinking = toText(delta[field]);
    if (thinking !== "") addChunk(out, { type: "thinking", delta: thinking, signature: field });
  }

  /** Most deltas are a text and nothing else. */
  function readDelta(delta: Loose<ChatDelta>, out: Batch): void {
    if (delta.reasoning_content || delta.reasoning) readReasoning(delta, out);
    addText(out, typeof delta.content === "string" ? delta.content : joinText(delta.content));
    if (delta.refusal != null) addText(out, toText(delta.refusal));
    if (delta.tool_calls == null) return;
    for (const call of toObjects<ChatToolCallDelta>(delta.tool_calls)) calls.push(call, out);
  }

  return {
    push(data, eventName, out) {
      if (settled || data === "") return;
      sawEvent = true;
      if (data === "[DONE]") {
        finished = true;
        out.push(...end());
        return;
      }
      const chunk = parseEvent<ChatChunk>(data);
      const said = chunk.error != null && chunk.error !== false;
      // Some servers name the failure beside its words instead of around them.
      if (said || eventName === "error" || chunk.object === "error") {
        out.push(...fail(readStreamError(said ? chunk.error : chunk, hide)));
        return;
      }
      if (!sawId) readId(chunk.id, out);
      if (chunk.usage != null) readUsage(chunk.usage, out);
      for (const choice of toObjects<ChatChoice>(chunk.choices)) readChoice(choice, out);
    },
    close() {
      if (settled) return [];
      if (!sawEvent) return fail(emptyStream());
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

function readUsage(usage: unknown, out: Batch): void {
  if (isObject(usage)) out.push({ type: "usage", counts: toCounts(usage) });
}

/** OpenAI's convention: the prompt count includes cached tokens. DeepSeek and Moonshot name the cached part differently. */
function toCounts(usage: Loose<ChatUsage>): TokenCounts {
  const prompt = toNumber(usage.prompt_tokens) ?? 0;
  const completion = toNumber(usage.completion_tokens) ?? 0;
  const details = detailsOf(usage.prompt_tokens_details);
  const reasoning = toNumber(detailsOf(usage.completion_tokens_details).reasoning_tokens) ?? 0;
  const cached = [details.cached_tokens, usage.cached_tokens, usage.prompt_cache_hit_tokens].map(toNumber);
  const cacheRead = Math.min(cached.find((count) => count !== undefined) ?? 0, prompt);
  const cacheWrite = Math.min(toNumber(details.cache_write_tokens) ?? 0, prompt - cacheRead);
  // Some count the reasoning beside the completion (xAI); the total tells.
  const isBeside = reasoning > 0 && usage.total_tokens === prompt + completion + reasoning;
  return {
    input: prompt - cacheRead - cacheWrite,
    output: completion + (isBeside ? reasoning : 0),
    cacheRead,
    cacheWrite,
    reasoning,
  };
}

function detailsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
