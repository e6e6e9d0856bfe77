// Whether a process is still at work; one that only waits to be reaped is not.
import { readFileSync } from "node:fs";

/** The process whose id is in `file`; false when there is no such file. */
export function runs(file: string): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${readFileSync(file, "utf8").trim()}/status`, "utf8"));
  } catch {
    return false;
  }
}
