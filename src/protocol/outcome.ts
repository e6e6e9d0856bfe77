// What a run came to: the calls that were denied, the reason when it did not end well, and the whole verdict as programs read it.
import * as z from "zod/mini";
import { Usage } from "./message.ts";

/** A call that the gate refused: what it was about in a few words, and the reason the model was given. */
export const DeniedCall = z.looseObject({
  toolCallId: z.string(),
  toolName: z.string(),
  summary: z.string(),
  reason: z.string(),
});
export type DeniedCall = z.infer<typeof DeniedCall>;

/** Why a prompt did not end well. The codes are those of `src/util/error.ts`; limits are `turn_limit`, `tool_call_limit`, `time_limit` and `cost_limit`. */
export const RunError = z.looseObject({
  code: z.string(),
  message: z.string(),
  /** What to do next. */
  hint: z.optional(z.string()),
});
export type RunError = z.infer<typeof RunError>;

/**
 * `done`: there is a whole answer; `limit`: a limit ended the run; `aborted`: a signal did; `error`: anything else. `running` stands in a
 * result file until the run ends, and stays there when it was killed.
 */
export const RunStatus = z.enum(["done", "limit", "aborted", "error", "running"]);
export type RunStatus = z.infer<typeof RunStatus>;

/** The verdict of a one-shot run: what `--result` writes, and the `result` of JSON mode's last record. */
export const RunResult = z.looseObject({
  status: RunStatus,
  /** The process's exit code; `null` as long as it runs. */
  exitCode: z.nullable(z.number()),
  /** `null` for `done` and `running`. */
  reason: z.nullable(RunError),
  /** The last answer; not whole unless `status` is `done`. */
  text: z.string(),
  /** With `--output-schema`: the answer as JSON. */
  output: z.optional(z.unknown()),
  /** `null` when the run ended before it had a session. */
  sessionId: z.nullable(z.string()),
  /** `provider/model`: the one that was asked last. */
  model: z.nullable(z.string()),
  /** Answers of the model, those that failed not counted. */
  turns: z.number(),
  /** Calls of tools that ran or were refused. */
  toolCalls: z.number(),
  deniedCalls: z.array(DeniedCall),
  /** Of this run alone, repetitions and compactions included. */
  usage: Usage,
  /** US dollars; `null` where the price of a model is not known. */
  cost: z.nullable(z.number()),
  /** From the start of the program. */
  durationMs: z.number(),
});
export type RunResult = z.infer<typeof RunResult>;
