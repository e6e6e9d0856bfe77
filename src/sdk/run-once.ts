// One task in JSON mode: started, read to its end, told as one value.
import { constants } from "node:os";
import type { RunResult } from "../protocol/outcome.ts";
import type { ReceivedRecord } from "../protocol/record.ts";
import type { Received } from "../protocol/unknown.ts";
import { AbortedError, type AgentError, ExitError, TimeoutError } from "./errors.ts";
import { guarded } from "./guarded.ts";
import { launch } from "./launch.ts";
import { onAbort } from "./on-abort.ts";
import { defaultMaxLineBytes, type LaunchOptions } from "./options.ts";
import { foldOutcome, type Outcome } from "./outcome.ts";
import { createRecordReader } from "./record-reader.ts";
import { startTimer } from "./timer.ts";

/** How `runOnce` starts an agent, and how long it may take. */
export interface RunOnceOptions extends LaunchOptions {
  /** Ends the agent and rejects with `AbortedError`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the agent is ended and the promise rejects with `TimeoutError`; none by default. */
  readonly timeout?: number | undefined;
  /** Hears every record as it comes, the session's header first. */
  readonly onRecord?: ((record: ReceivedRecord) => void) | undefined;
}

/** What came of a task. */
export interface OneRun extends Outcome {
  /** The process's exit code: 0 for a whole answer; 128 + the signal's number where a signal ended it. */
  readonly exitCode: number;
  /** The session to go on in, by `--session`; undefined where no header came. */
  readonly sessionId: string | undefined;
  /** The whole verdict: turns, calls and costs, and with `--output-schema` the answer as JSON; told by this program alone. */
  readonly result: Received<RunResult> | undefined;
  /** The end of what was written to stderr, at most 8192 characters. */
  readonly stderr: string;
}

/**
 * Runs `pi-ts --mode json` (or `pi`) with `task` on its stdin. Questions cannot be answered: what is not allowed by flags (`--yolo`,
 * `--allow`) is denied and listed in `deniedCalls`. Rejects with `SpawnError`; with `ExitError` when the process ends without having begun or settled
 * (wrong flags, a missing key, a crash); with `ProtocolError`, `AbortedError`, `TimeoutError`. A run that failed is no rejection: `error` and
 * `exitCode` tell of it.
 */
export async function runOnce(task: string, options: RunOnceOptions = {}): Promise<OneRun> {
  const { signal, timeout, onRecord } = options;
  if (signal?.aborted) throw new AbortedError(signal.reason);
  const fold = foldOutcome();
  let sessionId: string | undefined;
  let settled: (ReceivedRecord & { readonly type: "agent_settled" }) | undefined;
  let failure: AgentError | undefined;
  let end = () => {};

  function fail(error: AgentError): void {
    failure ??= error;
    end();
  }

  const reader = createRecordReader({
    maxLineBytes: options.maxLineBytes ?? defaultMaxLineBytes,
    validate: options.validate ?? false,
    onError: fail,
    onRecord(record) {
      if (failure) return;
      if (record.type === "session") sessionId = record.id;
      else if (record.type === "agent_settled") settled = record;
      fold.add(record);
      if (onRecord) guarded(onRecord, record);
    },
  });
  const agent = await launch(options, ["--mode", "json"], reader.push);
  end = () => void agent.close();
  const abort = () => fail(new AbortedError(signal?.reason));
  const stopTimer = startTimer(timeout, (ms) => fail(new TimeoutError("run", "", ms)));
  const forget = onAbort(signal, abort);
  try {
    if (signal?.aborted) abort();
    agent.write(task);
    agent.endInput();
    const ended = await agent.ended;
    reader.end();
    if (failure) throw failure;
    // Without a session the run has not begun, whatever is said of the reason.
    if (!settled || sessionId === undefined) throw new ExitError(ended);
    const exitCode = ended.exitCode ?? 128 + signalNumber(ended.signal);
    return { ...fold.outcome(), exitCode, sessionId, result: settled.result, stderr: ended.stderr };
  } finally {
    stopTimer();
    forget();
  }
}

function signalNumber(name: string | null): number {
  return (constants.signals as Readonly<Record<string, number>>)[name ?? ""] ?? 0;
}
