// What one prompt may take: turns, tool calls and dollars. Its time is not counted here: that limit aborts the run, with its error as the reason.
import type { Usage } from "../protocol/message.ts";
import { describeDuration } from "../util/duration.ts";
import { AppError } from "../util/error.ts";
import { plural } from "../util/plural.ts";

/** Undefined for no limit. */
export interface LimitOptions {
  readonly maxTurns: number;
  readonly maxToolCalls?: number | undefined;
  /** US dollars. */
  readonly maxCost?: number | undefined;
  /** US dollars that the run has cost so far; needed for `maxCost`. */
  readonly spent?: (() => number) | undefined;
}

export interface Limits {
  /** The user has said something more: it may take as much again. */
  restart(): void;
  /** Counts an answer. */
  answered(usage: Usage): void;
  /** Counts a call and says whether it may run. */
  takeCall(): boolean;
  /** Why the cost allows no further request. */
  cost(): AppError | undefined;
  /** Why there is no further turn. */
  reached(): AppError | undefined;
}

export function createLimits({ maxTurns, maxToolCalls = Infinity, maxCost, spent = () => 0 }: LimitOptions): Limits {
  let turns = 0;
  let calls = 0;
  let spentBefore = spent();
  let isCounted = true;

  function cost(): AppError | undefined {
    if (maxCost === undefined) return undefined;
    if (!isCounted) return uncounted();
    const dollars = spent() - spentBefore;
    return dollars >= maxCost ? costLimit(dollars, maxCost) : undefined;
  }

  return {
    restart() {
      turns = 0;
      calls = 0;
      spentBefore = spent();
    },
    answered({ totalTokens }) {
      turns++;
      if (totalTokens === 0) isCounted = false;
    },
    takeCall: () => ++calls <= maxToolCalls,
    cost,
    reached() {
      if (calls > maxToolCalls) return toolCallLimit(maxToolCalls);
      return turns >= maxTurns ? turnLimit(turns) : cost();
    },
  };
}

/** What a call gets in the place of a result. */
export const notRunText = "Error: not run: the limit of tool calls is reached";

/** The error that a run is aborted with when its time is over. */
export function timeLimit(ms: number): AppError {
  return new AppError("time_limit", `Stopped after ${describeDuration(ms)}: the time limit is reached`, {
    hint: "Raise --timeout, or go on in the session with a further prompt.",
  });
}

function turnLimit(turns: number): AppError {
  return new AppError("turn_limit", `Stopped after ${plural(turns, "turn")}: the turn limit is reached`, {
    hint: "Raise --max-turns, or go on with a further prompt.",
  });
}

function toolCallLimit(calls: number): AppError {
  const message = `Stopped after ${plural(calls, "tool call")}: the limit of tool calls is reached`;
  return new AppError("tool_call_limit", message, { hint: "Raise --max-tool-calls, or go on with a further prompt." });
}

function costLimit(spent: number, limit: number): AppError {
  return new AppError("cost_limit", `Stopped after $${round(spent)}: the cost limit of $${round(limit)} is reached`, {
    hint: "Raise --max-cost, or go on with a further prompt.",
  });
}

function uncounted(): AppError {
  return new AppError("cost_limit", "Stopped: the provider does not tell how many tokens an answer took", {
    hint: "The cost limit cannot be kept with it. Set stream_usage = true for it in config.toml, or leave --max-cost out.",
  });
}

/** Dollars with as many digits as say something. */
function round(dollars: number): string {
  return dollars >= 0.1 ? dollars.toFixed(2) : String(Number(dollars.toPrecision(2)));
}
