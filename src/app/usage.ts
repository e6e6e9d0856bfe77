// What a session and a run have cost: tokens, dollars, turns and calls, counted as they are told.
import type { AgentEvent } from "../protocol/event.ts";
import type { Usage } from "../protocol/message.ts";
import { addUsage, emptyUsage } from "../protocol/usage.ts";
import type { Session } from "../session/session.ts";

export { emptyUsage };

/** Tokens and dollars: of the last answer, and of the whole conversation. */
export interface UsageReport {
  readonly last: Usage | undefined;
  readonly total: Usage;
}

/** What the running prompt, or else the last one, has taken so far. */
export interface RunProgress {
  /** Answers of the model, those that failed not counted. */
  readonly turns: number;
  /** Calls that ran or were refused. */
  readonly toolCalls: number;
  /** Everything that was asked of a model, repetitions and compactions included. */
  readonly usage: Usage;
  /** Whether the price of every model that was asked is known. */
  readonly isPriced: boolean;
}

export interface Tally {
  /** Another prompt begins. */
  restart(): void;
  /** Counts what an event tells; gives the usage of an answer, if that is one. */
  follow(event: AgentEvent, isPriced: boolean): Usage | undefined;
  /** Counts what was asked beside the answers. */
  add(usage: Usage, isPriced: boolean): void;
  progress(): RunProgress;
}

export function createTally(): Tally {
  const nothing = () => ({ turns: 0, toolCalls: 0, usage: emptyUsage(), isPriced: true });
  let count = nothing();

  function add(usage: Usage, isPriced: boolean): void {
    count = { ...count, usage: addUsage(count.usage, usage), isPriced: count.isPriced && isPriced };
  }

  return {
    restart() {
      count = nothing();
    },
    follow(event, isPriced) {
      if (event.type === "tool_execution_start") count = { ...count, toolCalls: count.toolCalls + 1 };
      if (event.type !== "message_end" || event.message.role !== "assistant") return undefined;
      const { stopReason, usage } = event.message;
      if (stopReason !== "error" && stopReason !== "aborted") count = { ...count, turns: count.turns + 1 };
      if (usage.totalTokens === 0) return undefined;
      add(usage, isPriced);
      return usage;
    },
    add,
    progress: () => count,
  };
}

/** What a session has cost so far, on all of its branches. */
export function usageOf(session: Session): UsageReport {
  let last: Usage | undefined;
  let total = emptyUsage();
  for (const entry of session.entries()) {
    const usage = entry.type === "message" ? entry.message.usage : entry.usage;
    if (!isUsage(usage)) continue;
    if (entry.type === "message") last = usage;
    total = addUsage(total, usage);
  }
  return { last, total };
}

export function isUsage(value: unknown): value is Usage {
  return (
    typeof value === "object" &&
    value !== null &&
    "totalTokens" in value &&
    "cost" in value &&
    Number(value.totalTokens) > 0
  );
}
