// Messages stream events → chunks (Anthropic documentation, "Streaming Messages"). Pure: bytes, time and the network are elsewhere.
import { AppError } from "../../util/error.ts";
import { toStreamError } from "../http-error.ts";
import type { Chunk, TokenCounts } from "../provider.ts";
import { type EventReader, malformedEvent, truncated } from "../stream-response.ts";
import { createUniqueIds } from "../unique-ids.ts";
import type { ContentBlock, MessagesDelta, MessagesEvent, MessagesUsage } from "./schema.ts";

interface OpenCall {
  /** Its number among the calls of the answer. */
  readonly slot: number;
  /** An input that came whole with the block's start; counts unless fragments follow. */
  whole: string;
}

/**
 * Reads one answer. It ends well with `message_stop`, at once, or when the body ends after a `message_delta` that gave a stop reason:
 * every block is whole by then, and some compatible servers send no more. Unknown events and blocks are passed over.
 * `hide` takes keys out of what a server says of a failure.
 */
export function createMessagesReader(hide: (text: string) => string): EventReader {
  const uniqueId = createUniqueIds();
  const openCalls = new Map<number, OpenCall>();
  /** Indexes of text and thinking blocks. */
  const openBlocks = new Set<number>();
  let calls = 0;
  let lastIndex = 0;
  let counts: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  let sawEvent = false;
  let stopReason: string | undefined;
  let refusal: string | undefined;
  let settled = false;

  function fail(error: AppError): Chunk[] {
    settled = true;
    return [{ type: "error", error }];
  }

  function end(): Chunk[] {
    const raw = stopReason ?? "end_turn";
    if (raw === "refusal") return fail(refused(refusal));
    // Like a request that does not fit (413): only a shorter conversation helps.
    if (raw === "model_context_window_exceeded") return fail(toStreamError(413, windowFull));
    settled = true;
    const rest = [...openCalls.values()].flatMap(wholeInput);
    const paused = raw === "pause_turn" && calls === 0;
    return [...rest, { type: "end", reason: toReason(raw, calls), raw, ...(paused ? { paused } : {}) }];
  }

  function readUsage(usage: MessagesUsage): Chunk[] {
    counts = {
      input: usage.input_tokens ?? counts.input,
      output: usage.output_tokens ?? counts.output,
      cacheRead: usage.cache_read_input_tokens ?? counts.cacheRead,
      cacheWrite: usage.cache_creation_input_tokens ?? counts.cacheWrite,
    };
    return [{ type: "usage", counts }];
  }

  function startBlock(block: ContentBlock, index: number): Chunk[] {
    switch (block.type) {
      case "text":
        openBlocks.add(index);
        return textOf(block.text);
      case "thinking":
        openBlocks.add(index);
        return [...thinkingOf(block.thinking), ...signatureOf(block.signature)];
      case "redacted_thinking":
        return block.data ? [{ type: "redacted_thinking", data: block.data }] : [];
      case "tool_use": {
        const slot = calls++;
        openCalls.set(index, { slot, whole: toWholeInput(block.input) });
        const id = uniqueId(block.id || `call_${slot}`);
        return [{ type: "toolcall_start", index: slot, id, name: block.name ?? "" }];
      }
      default:
        return [];
    }
  }

  function readDelta(delta: MessagesDelta, index: number): Chunk[] {
    switch (delta.type) {
      case "text_delta":
        return textOf(delta.text);
      case "thinking_delta":
        return thinkingOf(delta.thinking);
      case "signature_delta":
        return signatureOf(delta.signature);
      case "input_json_delta": {
        const call = openCalls.get(index);
        if (!call || !delta.partial_json) return [];
        call.whole = "";
        return [{ type: "toolcall_delta", index: call.slot, delta: delta.partial_json }];
      }
      default:
        return [];
    }
  }

  function stopBlock(index: number): Chunk[] {
    if (openBlocks.delete(index)) return [{ type: "block_end" }];
    const call = openCalls.get(index);
    openCalls.delete(index);
    return call ? wholeInput(call) : [];
  }

  function read(event: MessagesEvent, type: string): Chunk[] {
    const index = event.index ?? lastIndex;
    switch (type) {
      case "message_start": {
        const { id, usage } = event.message ?? {};
        return [...(id ? [{ type: "response", id } as const] : []), ...(usage ? readUsage(usage) : [])];
      }
      case "content_block_start":
        lastIndex = index;
        return event.content_block ? startBlock(event.content_block, index) : [];
      case "content_block_delta":
        return event.delta ? readDelta(event.delta, index) : [];
      case "content_block_stop":
        return stopBlock(index);
      case "message_delta":
        stopReason = event.delta?.stop_reason ?? stopReason;
        refusal = event.delta?.stop_details?.explanation ?? refusal;
        return event.usage ? readUsage(event.usage) : [];
      case "message_stop":
        return end();
      default:
        return [];
    }
  }

  return {
    push(data, eventName) {
      // Some gateways end every stream the way OpenAI does.
      if (settled || data === "" || data === "[DONE]") return [];
      const event = parseEvent(data);
      if (!event) return fail(malformedEvent(hide(data)));
      const type = event.type ?? eventName ?? "";
      if (type === "error" || event.error != null) return fail(toError(event.error ?? data, hide));
      if (type !== "ping") sawEvent = true;
      return read(event, type);
    },
    close() {
      if (settled) return [];
      if (!sawEvent)
        return fail(new AppError("stream_empty", "The provider sent an empty stream", { retryable: true }));
      if (stopReason !== undefined) return end();
      return fail(truncated());
    },
  };
}

function textOf(delta: string | null | undefined): Chunk[] {
  return delta ? [{ type: "text", delta }] : [];
}

function thinkingOf(delta: string | null | undefined): Chunk[] {
  return delta ? [{ type: "thinking", delta }] : [];
}

function signatureOf(signature: string | null | undefined): Chunk[] {
  return signature ? [{ type: "thinking", delta: "", signature }] : [];
}

function wholeInput({ slot, whole }: OpenCall): Chunk[] {
  return whole === "" ? [] : [{ type: "toolcall_delta", index: slot, delta: whole }];
}

/** The JSON of an input that is more than the `{}` every block starts with. */
function toWholeInput(input: unknown): string {
  return typeof input === "object" && input !== null && Object.keys(input).length > 0 ? JSON.stringify(input) : "";
}

function toReason(raw: string, calls: number): "stop" | "length" | "toolUse" {
  if (raw === "max_tokens") return "length";
  return calls > 0 ? "toolUse" : "stop";
}

function parseEvent(data: string): MessagesEvent | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const windowFull = "The answer reached the end of the model's context window";

function refused(explanation: string | undefined): AppError {
  const reason = explanation ? `: ${explanation}` : "";
  return new AppError("stream_error", `The model refused to answer${reason}`, {
    hint: "Rephrase the request, or choose another model; the refused turn is not kept in the conversation.",
  });
}

/** The status that each error type has when it is the whole response (Anthropic API reference, "Errors"). */
const errorStatus: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

function toError(error: unknown, hide: (text: string) => string): AppError {
  if (typeof error !== "object" || error === null) return toStreamError(undefined, hide(String(error)));
  const { type, message, code, status } = error as Readonly<Record<string, unknown>>;
  if (typeof type === "string" && typeof message === "string")
    return toStreamError(errorStatus[type], hide(`${type}: ${message}`));
  // A gateway's own form.
  const number = [code, status].map(Number).find((value) => value >= 400 && value < 600);
  return toStreamError(number, hide(JSON.stringify(error)));
}
