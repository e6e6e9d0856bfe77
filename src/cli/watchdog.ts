// The last means of a one-shot run's time limit: whatever still holds the program a little later, such as a reader of stdout that does not
// read, is left behind.
import { timeLimit } from "../app/deadline.ts";
import type { Io } from "../modes/io.ts";
import { leave } from "../modes/signals.ts";
import { now } from "../util/clock.ts";
import { log } from "../util/log.ts";
import type { ResultFile } from "./result-file.ts";

const graceMs = 2500;

/** `timeoutMs` is counted from the start of the program. */
export function startWatchdog(timeoutMs: number, io: Io, result: ResultFile | undefined): void {
  const bark = () => {
    const error = timeLimit(timeoutMs);
    result?.fail(error);
    log().error(error.message);
    leave(io, error.exitCode);
  };
  setTimeout(bark, timeoutMs + graceMs - now()).unref();
}
