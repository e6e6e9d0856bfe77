// When a request that failed is sent again: how long to wait, and waiting so that an abort ends it. Pure but for the timer.
import type { Provider } from "../providers/provider.ts";
import type { AppError } from "../util/error.ts";

const firstDelayMs = 1000;
/** A provider that asks for more patience than this is asked again all the same; if it still refuses, so be it. */
const longestDelayMs = 60_000;

/** Who is asked again, and how often. */
export interface RetryPolicy {
  readonly provider: Pick<Provider, "isReplay">;
  readonly maxRetries: number;
}

/**
 * Milliseconds until attempt `attempt` (1 is the first repetition), or undefined when repeating makes no sense. The provider's own wish
 * counts up to a minute, and otherwise the wait doubles each time; so does the shortest wait from the second repetition on, whatever a
 * provider wishes. Jitter, from `random` in [0, 1), keeps many clients from coming back at once.
 */
export function retryDelay(
  error: AppError,
  attempt: number,
  { provider, maxRetries }: RetryPolicy,
  random: number,
): number | undefined {
  if (!error.retryable || attempt > maxRetries) return undefined;
  if (provider.isReplay) return 0;
  const wished = error.retryAfterMs;
  const jittered = (ms: number) => ms * (0.75 + random / 2);
  // Never earlier than what was asked for.
  const wait =
    wished === undefined
      ? jittered(firstDelayMs * 2 ** (attempt - 1))
      : Math.max(wished * (1 + random / 10), attempt > 1 ? jittered(firstDelayMs * 2 ** (attempt - 2)) : 0);
  return Math.round(Math.min(wait, longestDelayMs));
}

/** What to tell the user where a provider asked for a longer wait than it gets. */
export function describeShortWait({ retryAfterMs = 0 }: AppError, delayMs: number): string | undefined {
  if (retryAfterMs <= longestDelayMs) return undefined;
  const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
  return `The provider asked for ${seconds(retryAfterMs)}; waiting ${seconds(delayMs)}`;
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
