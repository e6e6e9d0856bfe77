// Events between the process that brings them and a loop that takes them, each at its own pace.

export interface EventQueue<Event> extends AsyncIterableIterator<Event> {
  /** How many bytes wait. */
  bytes(): number;
  push(event: Event, bytes: number): void;
  /** Forgets what waits. */
  clear(): void;
  /** What waits is still given, then the end, or `error` thrown once. */
  end(error?: Error): void;
}

export interface EventQueueOptions {
  /** An event was taken. */
  readonly onTaken: () => void;
  /** The loop was left. */
  readonly onLeft: () => void;
}

export function createEventQueue<Event>({ onTaken, onLeft }: EventQueueOptions): EventQueue<Event> {
  let waiting: { event: Event; bytes: number }[] = [];
  /** How many of them are taken already; they are dropped together, so that taking one stays cheap. */
  let head = 0;
  let total = 0;
  let ended = false;
  let failure: Error | undefined;
  let sleepers: (() => void)[] = [];

  function wake(): void {
    const woken = sleepers;
    sleepers = [];
    for (const resolve of woken) resolve();
  }

  function take(): Event | undefined {
    const next = waiting[head];
    if (!next) return undefined;
    head++;
    total -= next.bytes;
    if (head * 2 >= waiting.length) {
      waiting = waiting.slice(head);
      head = 0;
    }
    onTaken();
    return next.event;
  }

  return {
    bytes: () => total,
    push(event, bytes) {
      if (ended) return;
      waiting.push({ event, bytes });
      total += bytes;
      wake();
    },
    clear() {
      waiting = [];
      head = 0;
      total = 0;
    },
    end(error) {
      if (ended) return;
      ended = true;
      failure = error;
      wake();
    },
    async next() {
      for (;;) {
        const event = take();
        if (event !== undefined) return { done: false, value: event };
        if (failure) {
          const error = failure;
          failure = undefined;
          throw error;
        }
        if (ended) return { done: true, value: undefined };
        await new Promise<void>((resolve) => sleepers.push(resolve));
      }
    },
    async return() {
      onLeft();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
