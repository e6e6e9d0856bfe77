// The one error type that reaches a user, and the table from its code to the process's exit status.

/** Exit status by error code. Signals end with 128 + their number and are not errors. */
const exitStatus = {
  usage: 2,
  config: 2,
  session: 2,
  missing_key: 2,
  auth: 1,
  quota: 1,
  rate_limit: 1,
  overloaded: 1,
  server: 1,
  bad_request: 1,
  context_overflow: 1,
  network: 1,
  timeout: 1,
  stream_truncated: 1,
  stream_empty: 1,
  stream_error: 1,
  aborted: 1,
  turn_limit: 1,
  tool_call_limit: 1,
  time_limit: 1,
  cost_limit: 1,
  denied: 1,
  output_schema: 1,
  output_limit: 1,
  empty_answer: 1,
  replay_mismatch: 1,
  tool_fatal: 1,
  mcp: 1,
  output: 1,
  internal: 1,
} as const;

export type ErrorCode = keyof typeof exitStatus;

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(exitStatus, value);
}

export interface AppErrorOptions {
  /** What to do next, in one sentence. */
  hint?: string | undefined;
  /** Whether the same call may go through later. */
  retryable?: boolean | undefined;
  /** How long the other side asked to wait, in milliseconds. */
  retryAfterMs?: number | undefined;
  parameter?: string | undefined;
  cause?: unknown;
}

/** A failure with a class (`code`) to branch on, a message to show and, where there is one, the next step. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** The request parameter that the other side named as the trouble. */
  readonly parameter: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.hint = options.hint;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.parameter = options.parameter;
  }

  get exitCode(): number {
    return exitStatus[this.code];
  }
}

/** What a person reads of it: the message, and below it the next step. */
export function describeError({ message, hint }: AppError): string {
  return hint === undefined ? message : `${message}\n  ${hint}`;
}

/** The limits of a run: what they end was well until then. */
const limitCodes: ReadonlySet<ErrorCode> = new Set(["turn_limit", "tool_call_limit", "time_limit", "cost_limit"]);

export function isLimit({ code }: AppError): boolean {
  return limitCodes.has(code);
}

/** The error that a signal was aborted with on purpose, such as a time limit; undefined for the user's own abort. */
export function abortError(signal: AbortSignal): AppError | undefined {
  return signal.aborted && signal.reason instanceof AppError ? signal.reason : undefined;
}

/** Who or what ended it, as the model is told. */
export function abortedBy(signal: AbortSignal): string {
  const { message } = abortError(signal) ?? {};
  return message === undefined ? "aborted by the user" : `ended: ${message}`;
}

/** Any thrown value as an `AppError`; what is not one yet is a bug of ours and keeps its stack as `cause`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError("internal", error instanceof Error ? error.message : String(error), { cause: error });
}
