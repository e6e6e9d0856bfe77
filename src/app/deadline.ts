// The time limit of a one-shot run, which counts from the start of the program: reading the task is a part of it.
import { timeLimit } from "../agent/limits.ts";
import { now } from "../util/clock.ts";

export { timeLimit };

/** `work`, or the error of the time limit where that comes first. `timeoutMs` is counted from the start of the program. */
export async function beforeDeadline<Value>(work: Promise<Value>, timeoutMs: number | undefined): Promise<Value> {
  if (timeoutMs === undefined) return work;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(timeLimit(timeoutMs)), Math.max(0, timeoutMs - now()));
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
