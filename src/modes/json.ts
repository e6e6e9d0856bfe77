// JSON mode: the session's header, then every event of one prompt as it happens, each a line; stdout gets nothing else.
import type { App } from "../app/app.ts";
import type { Io } from "./io.ts";
import { reportOutcome } from "./outcome.ts";
import type { RecordOutput } from "./records.ts";
import { leave, watchSignals } from "./signals.ts";

/** Runs `task` and gives the exit code, which is that of the print mode. */
export async function runJson(app: App, task: string, output: RecordOutput, io: Io): Promise<number> {
  const stopped = Promise.withResolvers<void>();
  const signals = watchSignals(io, () => {
    stopped.resolve();
    void app.abort();
  });
  output.write(app.session().header);
  const unsubscribe = app.subscribe(output.write);
  try {
    const outcome = await app.prompt(await app.expand(task)).catch(async (error) => {
      await output.drain(stopped.promise);
      throw error;
    });
    const isWritten = await output.drain(stopped.promise);
    const code = reportOutcome(outcome, signals);
    return isWritten ? code : leave(io, code);
  } finally {
    unsubscribe();
    signals.stop();
    app.close();
  }
}
