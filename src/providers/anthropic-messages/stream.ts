// Messages stream events → chunks (Anthropic documentation, "Streaming Messages"). Pure: bytes, time and the network are elsewhere.
import { AppError } from "../../util/error.ts";
import { isObject } from "../../util/is-object.ts";
import { addChunk } from "../batch.ts";
import type { CallIds } from "../call-ids.ts";
import { readStreamError, toStreamError } from "../http-error.ts";
import { type Loose, toNumber, toObject, toObjects, toText } from "../json-fields.ts";
import type { Chunk, TokenCounts } from "../provider.ts";
import { type EventReader, emptyStream, parseEvent, toStopReason, truncated } from "../stream-response.ts";
import type { ContentBlock, MessagesDelta, MessagesEvent, MessagesUsage, StopDetails, WholeMessage } from "./schema.ts";

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
export function createMessagesReader(hide: (text: string) => string, callIds: CallIds): EventReader {
  const openCalls = new Map<number, OpenCall>();
  /** Indexes of text and thinking blocks. */
  const openBlocks = new Set<number>();
  let calls = 0;
  let lastIndex = 0;
  let counts: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  let sawEvent = false;
  let stopReason = "";
  let refusal = "";
  let settled = false;

  function fail(error: AppError): Chunk[] {
    settled = true;
    return [{ type: "error", error }];
  }

  function end(): Chunk[] {
    const raw = stopReason || "end_turn";
    if (raw === "refusal") return fail(refused(refusal));
    // Like a request that does not fit (413): only a shorter conversation helps.
    if (raw === "model_context_window_exceeded") return fail(toStreamError(413, windowFull));
    settled = true;
    const rest = [...openCalls.values()].flatMap(wholeInput);
    const paused = raw === "pause_turn" && calls === 0;
    const reason = toStopReason(raw === "max_tokens", calls);
    return [...rest, { type: "end", reason, raw, ...(paused ? { paused } : {}) }];
  }

  function readUsage(value: unknown): Chunk[] {
    if (!isObject(value)) return [];
    const usage: Loose<MessagesUsage> = value;
    counts = {
      input: toNumber(usage.input_tokens) ?? counts.input,
      output: toNumber(usage.output_tokens) ?? counts.output,
      cacheRead: toNumber(usage.cache_read_input_tokens) ?? counts.cacheRead,
      cacheWrite: toNumber(usage.cache_creation_input_tokens) ?? counts.cacheWrite,
    };
    return [{ type: "usage", counts }];
  }

  function readStop({ stop_reason, stop_details }: Loose<MessagesDelta> | Loose<WholeMessage>): void {
    stopReason = toText(stop_reason) || stopReason;
    refusal = toText(toObject<StopDetails>(stop_details)?.explanation) || refusal;
  }

  function startBlock(block: Loose<ContentBlock>, index: number): Chunk[] {
    switch (block.type) {
      case "text":
        openBlocks.add(index);
        return textOf(block.text);
      case "thinking":
        openBlocks.add(index);
        return [...thinkingOf(block.thinking), ...signatureOf(block.signature)];
      case "redacted_thinking": {
        const data = toText(block.data);
        return data === "" ? [] : [{ type: "redacted_thinking", data }];
      }
      case "tool_use": {
        const slot = calls++;
        openCalls.set(index, { slot, whole: toWholeInput(block.input) });
        const id = callIds(toText(block.id), slot);
        return [{ type: "toolcall_start", index: slot, id, name: toText(block.name) }];
      }
      default:
        return [];
    }
  }

  function readDelta(delta: Loose<MessagesDelta>, index: number): Chunk[] {
    switch (delta.type) {
      case "text_delta":
        return textOf(delta.text);
      case "thinking_delta":
        return thinkingOf(delta.thinking);
      case "signature_delta":
        return signatureOf(delta.signature);
      case "input_json_delta": {
        const call = openCalls.get(index);
        const fragment = toText(delta.partial_json);
        if (!call || fragment === "") return [];
        call.whole = "";
        return [{ type: "toolcall_delta", index: call.slot, delta: fragment }];
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

  function startMessage(message: Loose<WholeMessage>): Chunk[] {
    const id = toText(message.id);
    return [...(id === "" ? [] : [{ type: "response", id } as const]), ...readUsage(message.usage)];
  }

  /** The document that comes where a server does not stream. */
  function readWhole(message: Loose<WholeMessage>): Chunk[] {
    const start = startMessage(message);
    const blocks = toObjects<ContentBlock>(message.content).flatMap((block, index) => [
      ...startBlock(block, index),
      ...stopBlock(index),
    ]);
    readStop(message);
    return [...start, ...blocks, ...end()];
  }

  function read(event: Loose<MessagesEvent>, type: string): Chunk[] {
    const index = toNumber(event.index) ?? lastIndex;
    switch (type) {
      case "message_start":
        return startMessage(toObject<WholeMessage>(event.message) ?? {});
      case "content_block_start":
        lastIndex = index;
        return startBlock(toObject<ContentBlock>(event.content_block) ?? {}, index);
      case "content_block_delta":
        return readDelta(toObject<MessagesDelta>(event.delta) ?? {}, index);
      case "content_block_stop":
        return stopBlock(index);
      case "message_delta":
        readStop(toObject<MessagesDelta>(event.delta) ?? {});
        return readUsage(event.usage);
      case "message_stop":
        return end();
      default:
        return [];
    }
  }

  return {
    push(data, eventName, batch) {
      // Some gateways end every stream the way OpenAI does.
      if (settled || data === "" || data === "[DONE]") return;
      const event = parseEvent<MessagesEvent>(data);
      const type = toText(event.type) || (eventName ?? "");
      if (type === "error" || event.error != null) {
        batch.push(...fail(toError(event.error ?? data, hide)));
        return;
      }
      if (type !== "ping") sawEvent = true;
      const chunks = event.type === "message" ? readWhole(event as Loose<WholeMessage>) : read(event, type);
      for (const chunk of chunks) addChunk(batch, chunk);
    },
    close() {
      if (settled) return [];
      if (!sawEvent) return fail(emptyStream());
      if (stopReason !== "") return end();
      return fail(truncated());
    },
  };
}

function textOf(value: unknown): Chunk[] {
  const delta = toText(value);
  return delta === "" ? [] : [{ type: "text", delta }];
}

function thinkingOf(value: unknown): Chunk[] {
  const delta = toText(value);
  return delta === "" ? [] : [{ type: "thinking", delta }];
}

function signatureOf(value: unknown): Chunk[] {
  const signature = toText(value);
  return signature === "" ? [] : [{ type: "thinking", delta: "", signature }];
}

function wholeInput({ slot, whole }: OpenCall): Chunk[] {
  return whole === "" ? [] : [{ type: "toolcall_delta", index: slot, delta: whole }];
}

/** The JSON of an input that is more than the `{}` every block starts with. */
function toWholeInput(input: unknown): string {
  return typeof input === "object" && input !== null && Object.keys(input).length > 0 ? JSON.stringify(input) : "";
}

const windowFull = "The answer reached the end of the model's context window";

function refused(explanation: string): AppError {
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
  const { type, message } = isObject(error) ? error : {};
  if (typeof type === "string" && typeof message === "string")
    return toStreamError(errorStatus[type], hide(`${type}: ${message}`));
  // A gateway's own form.
  return readStreamError(error, hide);
}
