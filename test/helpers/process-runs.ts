// Whether a process is still at work; one that only waits to be reaped is not.
import { readFileSync } from "node:fs";

/** The process whose id is in `file`; false when there is no such file. */
export function runs(file: string): boolean {
  try {
    return isAtWork(Number(readFileSync(file, "utf8").trim()));
  } catch {
    return false;
  }
}

export function isAtWork(pid: number): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
