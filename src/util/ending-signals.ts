// Which signals end the program.
import { readFileSync } from "node:fs";
import { signalExitCodes } from "./exit-codes.ts";
import { lazy } from "./lazy.ts";

export type SignalName = keyof typeof signalExitCodes;

/**
 * All that have an exit code; a hangup does not end a program that is started to outlive one, as by `nohup`, where the system tells that.
 * Whoever listens to signals asks here first: afterwards it can no longer be told.
 */
export const endingSignals = lazy((): readonly SignalName[] => {
  const all = Object.keys(signalExitCodes) as SignalName[];
  return ignoresHangup() ? all.filter((name) => name !== "SIGHUP") : all;
});

/** By the lowest bit of what is ignored (Linux: /proc/self/status, SigIgn, hexadecimal, see proc(5)). */
function ignoresHangup(): boolean {
  try {
    const [, rest = ""] = readFileSync("/proc/self/status", "latin1").split("\nSigIgn:");
    const [mask = ""] = rest.split("\n");
    return (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
  } catch {
    return false;
  }
}
