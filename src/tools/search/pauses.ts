// Long work on the one thread: it rests now and then, so that keys, timers and an abort get their turn.
import { now } from "../../util/clock.ts";

export interface Pauses {
  isDue(): boolean;
  /** Lets everything else run; throws when the work is to end. */
  take(): Promise<void>;
}

const workMs = 8;
/** A search ends after this long with what it has found. */
export const searchTimeMs = 30_000;

export function createPauses(signal: AbortSignal): Pauses {
  let last = now();
  return {
    isDue: () => now() - last > workMs,
    async take() {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      last = now();
    },
  };
}

/**
 * Does `work` until it ends, the time is over, or the run is aborted; false when time ran out. The signal it is given fires then.
 * Returns at once, even when a file system does not answer. Rejects with the abort's reason, or with what `work` throws.
 */
export async function withTimeLimit(
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const { promise: stopped, resolve } = Promise.withResolvers<boolean>();
  const end = () => {
    resolve(false);
    stop.abort();
  };
  const timer = setTimeout(end, limitMs);
  signal.addEventListener("abort", end);
  try {
    const working = work(stop.signal).then(() => true);
    // What it throws after being stopped is of no interest.
    working.catch(() => {});
    const inTime = await Promise.race([working, stopped]);
    signal.throwIfAborted();
    return inTime;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
