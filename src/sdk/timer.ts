// Limits in milliseconds as a program gives them: none, infinite, or longer than a runtime's timers can wait.
import { longestTimerMs } from "../util/duration.ts";

/** Calls `expire` after so many milliseconds; with none or more than a timer can wait, never. Gives the function that keeps it from that. */
export function startTimer(ms: number | undefined, expire: (ms: number) => void): () => void {
  if (ms === undefined || ms > longestTimerMs) return () => {};
  const timer = setTimeout(expire, ms, ms);
  return () => clearTimeout(timer);
}
