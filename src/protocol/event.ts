// Events: what observers of a run hear. JSON and RPC modes write these records as they are.
import * as z from "zod/mini";
import { Entry } from "./entry.ts";
import {
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ThinkingLevel,
  ToolCall,
  ToolResultMessage,
  Usage,
} from "./message.ts";
import { DeniedCall, RunError, RunResult } from "./outcome.ts";

const contentIndex = z.number();

/** One step of a streaming answer; `contentIndex` says which content block it belongs to. Delta-only: no step repeats earlier text but `*_end`. */
export const AssistantMessageEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_start"), contentIndex }),
  z.object({ type: z.literal("text_delta"), contentIndex, delta: z.string() }),
  z.object({ type: z.literal("text_end"), contentIndex, content: z.string() }),
  z.object({ type: z.literal("thinking_start"), contentIndex }),
  z.object({ type: z.literal("thinking_delta"), contentIndex, delta: z.string() }),
  z.object({ type: z.literal("thinking_end"), contentIndex, content: z.string() }),
  z.object({ type: z.literal("toolcall_start"), contentIndex, id: z.string(), toolName: z.string() }),
  z.object({ type: z.literal("toolcall_delta"), contentIndex, delta: z.string() }),
  z.object({ type: z.literal("toolcall_end"), contentIndex, toolCall: ToolCall }),
]);
export type AssistantMessageEvent = z.infer<typeof AssistantMessageEvent>;

/** A tool's outcome: `content` is what the model reads, `structuredContent` the same facts for programs (pi: since 0.99.0). */
export const ToolResult = z.looseObject({
  content: z.array(z.discriminatedUnion("type", [TextContent, ImageContent])),
  details: z.optional(z.unknown()),
  structuredContent: z.optional(z.unknown()),
});
export type ToolResult = z.infer<typeof ToolResult>;

/** Why a conversation is compacted: the user asked for it, the next request would not fit, or the provider said that one did not. */
export const CompactionReason = z.enum(["manual", "threshold", "overflow"]);
export type CompactionReason = z.infer<typeof CompactionReason>;

/** What a compaction came to: token counts of the whole context, and what the summary has cost; `details` names files read and modified. */
export const CompactionResult = z.looseObject({
  summary: z.string(),
  firstKeptEntryId: z.string(),
  tokensBefore: z.number(),
  estimatedTokensAfter: z.optional(z.number()),
  usage: z.optional(Usage),
  details: z.optional(z.unknown()),
});
export type CompactionResult = z.infer<typeof CompactionResult>;

const ModelName = z.object({ provider: z.string(), modelId: z.string() });

const toolCallFields = {
  toolCallId: z.string(),
  toolName: z.string(),
};
const toolArgs = z.record(z.string(), z.unknown());

/**
 * Everything a run reports, in this order: `agent_start`, `turn_start`, the prompt's messages as start and end pairs, then per turn
 * the assistant message (start, updates, end), its tool executions each followed by its result message, and `turn_end`;
 * at last `agent_end` and, exactly once per prompt and whatever happened, `agent_settled`, with the calls that were denied, if any, and
 * with the reason when it did not end well. Messages of the queue begin a turn, each behind its `queue_update`. A request that failed for a passing reason ends its
 * run with `willRetry`; after `auto_retry_start` and the wait it names, a further run begins with `agent_start`. With `--fallback` one that is
 * not repeated any more ends its run so too; after `model_fallback` a run with the next model begins.
 * A compaction stands between its start and its end: before the answer of the turn it makes room for (`threshold`), between a run that did
 * not fit and its repetition (`overflow`), or outside of any run (`manual`).
 *
 * In pi `agent_settled` came with 0.80.4 and its `aborted` with 1.1.0, `id` and `toolName` of `toolcall_start` with 0.84.3, `durationMs` of
 * `tool_execution_end` with 1.1.0, `session_info_changed` with 0.80.3; `deniedCalls`, `error` and `result` are this program's own.
 */
export const AgentEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("agent_start") }),
  z.object({ type: z.literal("agent_end"), messages: z.array(Message), willRetry: z.boolean() }),
  z.object({
    type: z.literal("agent_settled"),
    aborted: z.boolean(),
    deniedCalls: z.optional(z.array(DeniedCall)),
    error: z.optional(RunError),
    /** In JSON mode: the verdict of the whole run. */
    result: z.optional(RunResult),
  }),
  z.object({ type: z.literal("turn_start") }),
  z.object({ type: z.literal("turn_end"), message: AssistantMessage, toolResults: z.array(ToolResultMessage) }),
  z.object({ type: z.literal("message_start"), message: Message }),
  z.object({ type: z.literal("message_update"), usage: Usage, assistantMessageEvent: AssistantMessageEvent }),
  z.object({ type: z.literal("message_end"), message: Message }),
  z.object({ type: z.literal("tool_execution_start"), ...toolCallFields, args: toolArgs }),
  z.object({ type: z.literal("tool_execution_update"), ...toolCallFields, args: toolArgs, partialResult: ToolResult }),
  z.object({
    type: z.literal("tool_execution_end"),
    ...toolCallFields,
    result: ToolResult,
    isError: z.boolean(),
    durationMs: z.optional(z.number()),
  }),
  z.object({
    type: z.literal("auto_retry_start"),
    attempt: z.number(),
    maxAttempts: z.number(),
    delayMs: z.number(),
    errorMessage: z.string(),
  }),
  z.object({
    type: z.literal("auto_retry_end"),
    success: z.boolean(),
    attempt: z.number(),
    finalError: z.optional(z.string()),
  }),
  z.object({ type: z.literal("model_fallback"), from: ModelName, to: ModelName, errorMessage: z.string() }),
  z.object({ type: z.literal("compaction_start"), reason: CompactionReason }),
  z.object({
    type: z.literal("compaction_end"),
    reason: CompactionReason,
    result: z.optional(CompactionResult),
    aborted: z.boolean(),
    willRetry: z.boolean(),
    errorMessage: z.optional(z.string()),
  }),
  /** The whole of both queues, after a change of one. */
  z.object({ type: z.literal("queue_update"), steering: z.array(z.string()), followUp: z.array(z.string()) }),
  /** An entry that no other event tells of, but that the next request depends on. */
  z.object({ type: z.literal("entry_appended"), entry: Entry }),
  z.object({ type: z.literal("session_info_changed"), name: z.optional(z.string()) }),
  z.object({ type: z.literal("thinking_level_changed"), level: ThinkingLevel }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;
