// Records: every line that an agent of this protocol writes, also those of the versions of pi that are older than what this program speaks.
import * as z from "zod/mini";
import { SessionHeader } from "./entry.ts";
import { AgentEvent, CompactionReason } from "./event.ts";
import { DeniedCall, RunError, RunResult } from "./outcome.ts";
import { BashExecutionUpdate, CommandId, RpcResponse } from "./rpc.ts";
import { UiRequest } from "./ui.ts";
import type { OrUnknown } from "./unknown.ts";

/** What pi tells and this program does not: retries of a compaction's summary (since 0.81.1), and extensions that failed. */
export const PiEvent = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("summarization_retry_scheduled"),
    attempt: z.number(),
    maxAttempts: z.number(),
    /** The wait, in milliseconds. */
    delayMs: z.number(),
    errorMessage: z.string(),
  }),
  z.looseObject({
    type: z.literal("summarization_retry_attempt_start"),
    source: z.enum(["compaction", "branchSummary"]),
    reason: z.optional(CompactionReason),
  }),
  z.looseObject({ type: z.literal("summarization_retry_finished") }),
  z.looseObject({
    type: z.literal("extension_error"),
    extensionPath: z.string(),
    event: z.string(),
    error: z.string(),
  }),
]);
export type PiEvent = z.infer<typeof PiEvent>;

/** `aborted` came with pi 1.1.0; `deniedCalls`, `error` and `result` are told by this program alone. */
export const EarlierSettled = z.looseObject({
  type: z.literal("agent_settled"),
  aborted: z.optional(z.boolean()),
  deniedCalls: z.optional(z.array(DeniedCall)),
  error: z.optional(RunError),
  result: z.optional(RunResult),
});
export type EarlierSettled = z.infer<typeof EarlierSettled>;

/** pi answers a line that is no object without naming a `command`. */
export const NamelessFailure = z.looseObject({
  id: z.optional(CommandId),
  type: z.literal("response"),
  command: z.optional(z.string()),
  success: z.literal(false),
  error: z.string(),
});
export type NamelessFailure = z.infer<typeof NamelessFailure>;

/** Everything that a run or the session reports. */
export const EventRecord = z.union([AgentEvent, EarlierSettled, BashExecutionUpdate, PiEvent]);
export type EventRecord = z.infer<typeof EventRecord>;

/** A line of stdout in JSON mode (which begins with the session's header) or RPC mode. */
export const AgentRecord = z.union([EventRecord, RpcResponse, NamelessFailure, UiRequest, SessionHeader]);
export type AgentRecord = z.infer<typeof AgentRecord>;

/** An event as a client gets it; one of an unknown type is `{ type: "unknown", raw }`. */
export type ReceivedEvent = OrUnknown<EventRecord>;

/** Any line as a client gets it. */
export type ReceivedRecord = OrUnknown<AgentRecord>;
