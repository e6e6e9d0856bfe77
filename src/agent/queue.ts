// Messages that wait for their turn while a prompt runs: steering ones for the end of a turn, follow-ups for the end of the work.
import type { ImageContent, UserMessage } from "../protocol/message.ts";
import type { QueueMode } from "../protocol/rpc.ts";

export type QueueKind = "steering" | "followUp";

/** The texts that wait, in order. */
export type QueueState = Readonly<Record<QueueKind, string[]>>;

/** What the loop takes of a queue. */
export interface MessageSource {
  /** How many messages are due at such a point. */
  due(kind: QueueKind): number;
  /** Takes the first message out; undefined when there is none. */
  take(kind: QueueKind): UserMessage | undefined;
}

export interface MessageQueue extends MessageSource {
  add(kind: QueueKind, text: string, images?: readonly ImageContent[]): void;
  /** Empties both and gives what was in them. */
  clear(): QueueState;
  state(): QueueState;
  /** How many wait in both. */
  size(): number;
  mode(kind: QueueKind): QueueMode;
  setMode(kind: QueueKind, mode: QueueMode): void;
}

interface Waiting {
  readonly text: string;
  readonly message: UserMessage;
}

/** Calls `changed` after every change, and after each `clear`. */
export function createQueue(changed: (state: QueueState) => void): MessageQueue {
  const waiting: Record<QueueKind, Waiting[]> = { steering: [], followUp: [] };
  const modes: Record<QueueKind, QueueMode> = { steering: "one-at-a-time", followUp: "one-at-a-time" };
  const state = () => ({
    steering: waiting.steering.map(({ text }) => text),
    followUp: waiting.followUp.map(({ text }) => text),
  });
  return {
    due: (kind) => (modes[kind] === "all" ? waiting[kind].length : Math.min(1, waiting[kind].length)),
    take(kind) {
      const first = waiting[kind].shift();
      if (first) changed(state());
      return first?.message;
    },
    add(kind, text, images = []) {
      waiting[kind].push({ text, message: userMessage(text, images) });
      changed(state());
    },
    clear() {
      const before = state();
      waiting.steering = [];
      waiting.followUp = [];
      changed(state());
      return before;
    },
    state,
    size: () => waiting.steering.length + waiting.followUp.length,
    mode: (kind) => modes[kind],
    setMode(kind, mode) {
      modes[kind] = mode;
    },
  };
}

/** What the user says, now. */
export function userMessage(text: string, images: readonly ImageContent[] = []): UserMessage {
  return { role: "user", content: [{ type: "text", text }, ...images], timestamp: Date.now() };
}
