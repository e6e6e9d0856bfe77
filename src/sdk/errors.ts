// What can go wrong between a program and the agent it drives, each as a class and a `code` to branch on.

/** One for each class: `spawn` for `SpawnError`, and so on. */
export type AgentErrorCode =
  | "spawn"
  | "exit"
  | "protocol"
  | "command"
  | "timeout"
  | "aborted"
  | "closed"
  | "overflow"
  | "run";

/** The base of every error that the SDK throws or rejects with. Branch on `code` or on the class, never on the message. */
export abstract class AgentError extends Error {
  /** Says the same as the class, where classes do not reach, such as behind a copy of the package or in a log. */
  abstract readonly code: AgentErrorCode;
}

/** The agent could not be started: there is no such program, no such folder, or no right to run it. `cause` is the system's error. */
export class SpawnError extends AgentError {
  override readonly name = "SpawnError";
  readonly code = "spawn";
  /** The program and its arguments. */
  readonly command: readonly string[];

  constructor(command: readonly string[], reason: string, cause: unknown) {
    super(`${command[0] || "The agent"} could not be started: ${reason}`, { cause });
    this.command = command;
  }
}

/** The agent's process has ended while something was still to come from it. */
export class ExitError extends AgentError {
  override readonly name = "ExitError";
  readonly code = "exit";
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** The signal's name, such as `SIGKILL`; null when it ended by itself. */
  readonly signal: string | null;
  /** The end of what it wrote to stderr, at most 8192 characters. */
  readonly stderr: string;

  constructor({ exitCode, signal, stderr }: { exitCode: number | null; signal: string | null; stderr: string }) {
    const how = signal === null ? `with exit code ${exitCode}` : `by ${signal}`;
    const last = lastWords(stderr);
    super(`The agent has ended ${how}${last === "" ? "" : `: ${last}`}`);
    this.exitCode = exitCode;
    this.signal = signal;
    this.stderr = stderr;
  }
}

/** The last line, with those that are indented behind it: what to do next. */
function lastWords(stderr: string): string {
  const lines = stderr.trimEnd().split("\n");
  const start = lines.findLastIndex((line) => !line.startsWith(" "));
  return lines.slice(Math.max(start, 0)).join("\n");
}

/** A line of the agent's stdout that is none of the protocol's: no JSON object, not UTF-8, too long, or (with `validate`) of another shape. */
export class ProtocolError extends AgentError {
  override readonly name = "ProtocolError";
  readonly code = "protocol";
  /** The offending line, of a very long one the first 2000 characters; empty where it was too long to keep. */
  readonly line: string;

  constructor(reason: string, line: string, cause?: unknown) {
    const kept = line.length > 2000 ? `${line.slice(0, 2000)}…` : line;
    const shown = kept.length > 200 ? `${kept.slice(0, 200)}…` : kept;
    super(`${reason}${shown === "" ? "" : `: ${shown}`}`, cause === undefined ? undefined : { cause });
    this.line = kept;
  }
}

/** The agent has refused a command; `message` is its own reason. */
export class CommandError extends AgentError {
  override readonly name = "CommandError";
  readonly code = "command";
  /** The command's `type`. */
  readonly command: string;
  /** The id that the command was sent with. */
  readonly id: string;

  constructor(command: string, id: string, reason: string) {
    super(reason);
    this.command = command;
    this.id = id;
  }
}

/** A command was not answered in time. The agent may still be at it. */
export class TimeoutError extends AgentError {
  override readonly name = "TimeoutError";
  readonly code = "timeout";
  /** The command's `type`; `run` for `runOnce`. */
  readonly command: string;
  /** The id that the command was sent with; empty for `runOnce`. */
  readonly id: string;
  /** The limit, in milliseconds. */
  readonly timeoutMs: number;

  constructor(command: string, id: string, timeoutMs: number) {
    super(`${command} was not answered within ${timeoutMs} ms`);
    this.command = command;
    this.id = id;
    this.timeoutMs = timeoutMs;
  }
}

/** An `AbortSignal` has ended it; `cause` is the signal's reason. */
export class AbortedError extends AgentError {
  override readonly name = "AbortedError";
  readonly code = "aborted";

  constructor(reason: unknown) {
    super("It was aborted", { cause: reason });
  }
}

/** The client was closed: before the call, or before its answer came. */
export class ClosedError extends AgentError {
  override readonly name = "ClosedError";
  readonly code = "closed";

  constructor() {
    super("The client was closed before this was done");
  }
}

/** The events of a run were read so slowly, while commands waited for answers behind them, that the rest was let go. */
export class OverflowError extends AgentError {
  override readonly name = "OverflowError";
  readonly code = "overflow";

  constructor(bytes: number) {
    super(`${bytes} bytes of a run's events were not read while a command waited for its answer behind them`);
  }
}

/** A run has not ended with a whole answer: its last request failed, it was aborted, or the answer was cut. */
export class RunFailedError extends AgentError {
  override readonly name = "RunFailedError";
  readonly code = "run";
  /** Why, as the agent's own code (`rate_limit`, `output_limit`, …) where it tells one, or else the answer's stop reason. */
  readonly reason: string;
  /** What to do next, where the agent says so. */
  readonly hint: string | undefined;
  /** What there is of the answer. */
  readonly text: string;

  constructor(message: string, { reason, hint, text }: { reason: string; hint?: string | undefined; text: string }) {
    super(message);
    this.reason = reason;
    this.hint = hint;
    this.text = text;
  }
}
