// The modes whose stdout is for programs: records alone, one a line. What else there is to say goes to stderr.
import type { App, AppOptions } from "../app/app.ts";
import { createApp } from "../app/create-app.ts";
import type { Io } from "../modes/io.ts";
import { interrupted, type OneShot, unbegun, type Verdict } from "../modes/one-shot.ts";
import { createRecordOutput, type RecordOutput } from "../modes/records.ts";
import { leave, watchSignals } from "../modes/signals.ts";
import { AppError } from "../util/error.ts";
import { log } from "../util/log.ts";
import { failStdout } from "../util/stdout.ts";
import { approvals, modes } from "./args.ts";
import { watchClient } from "./watch-client.ts";
import { watchReader } from "./watch-reader.ts";

export type Mode = (typeof modes)[number];

/** Undefined when none is asked for. Throws `AppError` `usage`. */
export function parseMode(text: string | undefined): Mode | undefined {
  const mode = modes.find((name) => name === text);
  if (text === undefined || mode) return mode;
  throw new AppError("usage", `--mode must be one of ${modes.join(", ")}, not '${text}'`);
}

export interface ApprovalFlags {
  readonly method: "confirm" | "select";
  readonly timeoutMs: number | undefined;
}

/** Throws `AppError` `usage`. */
export function parseApproval(method: string | undefined, seconds: string | undefined): ApprovalFlags {
  const known = approvals.find((name) => name === method);
  if (method !== undefined && !known) {
    throw new AppError("usage", `--approval must be ${approvals.join(" or ")}, not '${method}'`);
  }
  const value = seconds === undefined ? undefined : Number(seconds);
  if (value !== undefined && !(value > 0 && value <= 86_400)) {
    throw new AppError("usage", `--approval-timeout must be seconds above 0, at most a day, not '${seconds}'`);
  }
  return { method: known ?? "confirm", timeoutMs: value === undefined ? undefined : Math.ceil(value * 1000) };
}

type Parts = Omit<AppOptions, "ready">;
type MakeApp = (hooks: Pick<AppOptions, "ready">) => App;

export async function runJsonMode(makeApp: MakeApp, oneShot: OneShot, io: Io): Promise<number> {
  watchOthers(io);
  const output = openOutput(io);
  const { runJson } = await import("../modes/json.ts");
  return runJson(makeApp({ ready: output.ready }), oneShot, output, io);
}

/** JSON mode's only record where a run ends before it has begun. */
export async function tellUnbegun(verdict: Verdict, io: Io): Promise<void> {
  const aborted = verdict.status === "aborted";
  const error = aborted ? {} : { error: verdict.reason };
  const record = { type: "agent_settled", aborted, ...error, result: unbegun(verdict) };
  const output = openOutput(io);
  output.write(record);
  await output.drain(Promise.resolve());
}

/** What comes before a run in JSON mode has begun: a signal is told in that way too. The result ends the watch. */
export function watchStart(io: Io): () => void {
  const signals = watchSignals(io, async () => {
    const code = signals.exitCode() ?? 1;
    await tellUnbegun(interrupted(code), io);
    leave(io, code);
  });
  return signals.stop;
}

export async function runRpcMode(parts: Omit<Parts, "ask">, approval: ApprovalFlags, io: Io): Promise<number> {
  watchOthers(io);
  const output = openOutput(io);
  const [{ runRpc }, { createApprovals }] = await Promise.all([
    import("../modes/rpc/index.ts"),
    import("../modes/rpc/approvals.ts"),
  ]);
  const approvals = createApprovals({ ...approval, write: output.write });
  const app = createApp({ ...parts, ask: approvals.ask, ready: output.ready });
  return runRpc({ app, approvals, output, input: Bun.stdin.stream() }, io);
}

/** Whoever listens can go away while there is nothing to write. */
function watchOthers(io: Io): void {
  watchClient(process.env);
  watchReader(() => {
    failStdout(Object.assign(new Error("EPIPE: nobody reads it any more"), { code: "EPIPE" }));
    leave(io, 1);
  });
}

/** Whoever prints something by the usual means prints it on stderr. A reader that has gone away ends the process and all it started. */
function openOutput(io: Io): RecordOutput {
  console.log = console.info = console.debug = console.error;
  return createRecordOutput(io, {
    onFailure(error) {
      if (error.code !== "EPIPE") log().error(`Could not write to stdout: ${error.message}`);
      leave(io, 1);
    },
  });
}
