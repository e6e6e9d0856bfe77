// When a request that failed is sent again: how long to wait, and waiting so that an abort ends it. Pure but for the timer.
import type { AppError } from "../util/error.ts";

const firstDelayMs = 1000;
/** A provider that asks for more patience than this is asked again all the same; if it still refuses, so be it. */
export const longestDelayMs = 60_000;

/**
 * Milliseconds until attempt `attempt` (1 is the first repetition), or undefined when repeating makes no sense. The provider's own wish
 * counts up to a minute; otherwise the wait doubles each time. Jitter, from `random` in [0, 1), keeps many clients from coming back at once.
 */
export function retryDelay(error: AppError, attempt: number, maxRetries: number, random: number): number | undefined {
  if (!error.retryable || attempt > maxRetries) return undefined;
  const wished = error.retryAfterMs;
  const base = wished ?? firstDelayMs * 2 ** (attempt - 1);
  // Never earlier than what was asked for.
  const jitter = wished === undefined ? 0.75 + random / 2 : 1 + random / 10;
  return Math.round(Math.min(base * jitter, longestDelayMs));
}

/** Resolves after `ms`, or at once when `signal` fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
