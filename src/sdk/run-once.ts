// One task in JSON mode: started, read to its end, told as one value.
import type { Message, StopReason, Usage } from "../protocol/message.ts";
import type { ReceivedRecord } from "../protocol/record.ts";
import type { OrUnknown } from "../protocol/unknown.ts";
import type { LaunchOptions } from "./options.ts";

export interface RunOnceOptions extends LaunchOptions {
  /** Ends the agent and rejects with `AbortedError`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the agent is ended and the promise rejects with `TimeoutError`; none by default. */
  readonly timeout?: number | undefined;
  /** Hears every record as it comes; the agent waits while a promise of it is open. */
  readonly onRecord?: ((record: ReceivedRecord) => void | Promise<void>) | undefined;
}

/** What came of a task. */
export interface OneRun {
  /** The last answer's text, as far as it came; see `error`. */
  readonly text: string;
  /** Every message of the run, in order. */
  readonly messages: readonly OrUnknown<Message>[];
  /** Tokens and dollars over all requests. */
  readonly usage: Usage;
  readonly stopReason: StopReason | undefined;
  /** Why there is no whole answer. */
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string | undefined } | undefined;
  /** The process's exit code: 0 for a whole answer. 128 + the signal's number where a signal ended it. */
  readonly exitCode: number;
  readonly sessionId: string | undefined;
  /** The end of what was written to stderr, at most 8192 characters. */
  readonly stderr: string;
}

/**
 * Runs `pi-ts --mode json` (or `pi`) with `task` on its stdin. Rejects with `SpawnError`; with `ExitError` when the process ends without
 * having settled (wrong flags, a missing key, a crash); with `ProtocolError`, `AbortedError`, `TimeoutError`. A run that failed is no
 * rejection: `error` and `exitCode` tell of it.
 */
export function runOnce(task: string, options: RunOnceOptions = {}): Promise<OneRun> {
  void task, options;
  throw new Error("not there yet");
}
