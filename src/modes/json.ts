// JSON mode: the session's header, then every event of one prompt as it happens, each a line; stdout gets nothing else.
import type { App } from "../app/app.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { toAppError } from "../util/error.ts";
import { visible } from "../util/sanitize.ts";
import type { Io } from "./io.ts";
import { judge, type OneShot, promptOnce, toRunResult, toVerdict, type Verdict } from "./one-shot.ts";
import { reportOutcome } from "./outcome.ts";
import type { RecordOutput } from "./records.ts";
import { describeFallback } from "./show.ts";
import { leave, watchSignals } from "./signals.ts";

type Settled = AgentEvent & { readonly type: "agent_settled" };

/** Runs the task and gives the exit code, which is that of the print mode. */
export async function runJson(app: App, oneShot: OneShot, output: RecordOutput, io: Io): Promise<number> {
  const { task, answersJson, settle } = oneShot;
  let settled: Settled = { type: "agent_settled", aborted: false };
  const stopped = Promise.withResolvers<void>();
  const signals = watchSignals(io, () => {
    stopped.resolve();
    void app.abort();
  });
  output.write(app.session().header);
  // The last record carries the verdict, so it waits for that.
  const unsubscribe = app.subscribe((event) => {
    if (event.type === "agent_settled") settled = event;
    else output.write(event);
    if (event.type === "model_fallback" && !app.config.quiet) io.stderr(`${visible(describeFallback(event))}\n`);
  });

  /** Writes the last record; the exit code that it tells. */
  function conclude(verdict: Verdict, outcome: Parameters<typeof toRunResult>[2]): number {
    const said = toRunResult(verdict, app, outcome, answersJson);
    const result = settle?.(said) ?? said;
    const error = result.reason !== said.reason && result.reason ? { error: result.reason } : {};
    const last: Settled = { ...settled, ...error, result };
    output.write(last);
    return result.exitCode ?? verdict.exitCode;
  }

  try {
    const outcome = await promptOnce(app, task).catch(async (thrown) => {
      conclude(toVerdict(toAppError(thrown)), { text: "", denied: settled.deniedCalls ?? [] });
      await output.drain(stopped.promise);
      throw thrown;
    });
    const verdict = judge(outcome, signals.exitCode());
    const exitCode = conclude(verdict, outcome);
    // Nor is a reader waited for that does not read when the time is over.
    if (outcome.error?.code === "time_limit") stopped.resolve();
    const isWritten = await output.drain(stopped.promise);
    reportOutcome(outcome, verdict);
    // A signal may also come while the last records are read.
    const code = signals.exitCode() ?? exitCode;
    return isWritten ? code : leave(io, code);
  } finally {
    unsubscribe();
    signals.stop();
    app.close();
  }
}
