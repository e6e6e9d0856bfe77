// What the modes that run one task and end have in common: the task, and the verdict in the words programs read.
import type { App, LoopOutcome } from "../app/app.ts";
import { emptyUsage } from "../app/usage.ts";
import type { ImageContent } from "../protocol/message.ts";
import type { RunError, RunResult, RunStatus } from "../protocol/outcome.ts";
import { now } from "../util/clock.ts";
import { type AppError, isLimit } from "../util/error.ts";
import { log } from "../util/log.ts";
import { redact } from "../util/redact.ts";
import { signalOf } from "./signals.ts";

/** What the user says: words, in which a template may be named, and the files given along. */
export interface Task {
  readonly text: string;
  /** The texts of files, as they stand behind the words. */
  readonly files?: string | undefined;
  readonly images?: readonly ImageContent[] | undefined;
}

export interface OneShot {
  readonly task: Task;
  /** A schema asks for the answer: it is JSON, and nothing else may be taken for it. */
  readonly answersJson?: boolean;
  /** Told the verdict as soon as there is one; what it is from then on. */
  readonly settle?: ((result: RunResult) => RunResult) | undefined;
}

/** Runs the task as one prompt. `tell` hears when it begins like a command that there is not. */
export async function promptTask(
  app: App,
  { text, files = "", images }: Task,
  tell?: (notice: string) => void,
): Promise<LoopOutcome> {
  const words = await app.expand(text);
  if (tell && words === text && text.startsWith("/")) {
    const { describeUnknownCommand } = await import("./unknown-command.ts");
    const notice = await describeUnknownCommand(text, app);
    if (notice !== undefined) tell(notice);
  }
  const said = [words, files].filter((part) => part.trim() !== "").join("\n\n");
  return app.prompt(said, images);
}

/** The same where it is the only task: what begins like a command that there is not is told on stderr, unless the run is quiet. */
export function promptOnce(app: App, task: Task): Promise<LoopOutcome> {
  return promptTask(app, task, app.config.quiet ? undefined : (notice) => log().warn(notice));
}

/** How a run ended. The codes of `reason` are those of errors, and `aborted` for a signal. */
export interface Verdict {
  readonly status: RunStatus;
  readonly exitCode: number;
  readonly reason: RunError | null;
}

/** `signalled` is the exit code that a signal asks for, if one came. */
export function judge({ status, error }: Pick<LoopOutcome, "status" | "error">, signalled?: number): Verdict {
  if (signalled !== undefined) return interrupted(signalled);
  if (error && error.code !== "aborted") return toVerdict(error);
  return status === "done" ? { status: "done", exitCode: 0, reason: null } : interrupted(1);
}

export function toVerdict(error: AppError): Verdict {
  const { code, message, hint, exitCode } = error;
  const reason = { code, message: redact(message), ...(hint === undefined ? {} : { hint: redact(hint) }) };
  return { status: isLimit(error) ? "limit" : "error", exitCode, reason };
}

export function interrupted(exitCode: number): Verdict {
  const signal = signalOf(exitCode);
  const message = signal ? `Ended by ${signal}` : "The run was interrupted";
  return { status: "aborted", exitCode, reason: { code: "aborted", message } };
}

/** The verdict of a run that has done nothing yet. */
export function unbegun(verdict: Pick<RunResult, "status" | "exitCode" | "reason">): RunResult {
  return {
    ...verdict,
    text: "",
    sessionId: null,
    model: null,
    turns: 0,
    toolCalls: 0,
    deniedCalls: [],
    usage: emptyUsage(),
    cost: 0,
    durationMs: Math.round(now()),
  };
}

/** The verdict with what is known of the run. */
export function toRunResult(
  verdict: Pick<RunResult, "status" | "exitCode" | "reason">,
  app: App,
  { text, denied }: Pick<LoopOutcome, "text" | "denied">,
  answersJson = false,
): RunResult {
  const { turns, toolCalls, usage, isPriced } = app.progress();
  const { provider, id } = app.config.model;
  const isValid = verdict.status === "done" || verdict.reason?.code === "denied";
  return {
    ...verdict,
    text,
    ...(answersJson && isValid ? { output: JSON.parse(text) } : {}),
    sessionId: app.session().id,
    model: `${provider}/${id}`,
    turns,
    toolCalls,
    deniedCalls: [...denied],
    usage,
    cost: isPriced ? usage.cost.total : null,
    durationMs: Math.round(now()),
  };
}
