// What a one-shot run came to: said on stderr, and as the exit code.
import type { LoopOutcome } from "../app/app.ts";
import { log } from "../util/log.ts";
import { visibleLine } from "../util/sanitize.ts";
import { oneLine } from "../util/truncate.ts";
import { describeError } from "./show.ts";
import type { SignalWatch } from "./signals.ts";

export function reportOutcome({ status, error, denied }: LoopOutcome, signals: SignalWatch): number {
  for (const { toolName, summary } of denied) log().warn(`denied: ${toolName} ${visibleLine(oneLine(summary, 160))}`);
  if (error && error.code !== "aborted") log().error(describeError(error));
  const signalled = signals.exitCode();
  if (signalled !== undefined) {
    log().warn("interrupted");
    return signalled;
  }
  if (error) return error.exitCode;
  return status === "done" ? 0 : 1;
}
