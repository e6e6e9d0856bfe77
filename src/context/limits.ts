// How a context window is shared out between the conversation, the answer and a reserve. Pure; all in tokens.

export interface Limits {
  readonly window: number;
  /** A larger conversation is compacted before the next request: the answer would not have all of its room. */
  readonly comfortable: number;
  /** A larger request cannot be answered. */
  readonly most: number;
  /** How much of the conversation's end a compaction keeps as it is. */
  readonly keep: number;
  /** The most a summary may have. */
  readonly summary: number;
  /** What a request for a summary may carry of the conversation. */
  readonly summaryInput: number;
}

/** The share of the window from which the user is warned. */
export const warningShare = 0.8;
/** Estimates are sometimes too low. */
const estimateShare = 0.75;
/** What the request for a summary says beside the conversation. */
const summaryInstructions = 700;

export function contextLimits(window: number, maxTokens: number): Limits {
  const share = (part: number, most: number) => Math.floor(Math.min(window * part, most));
  const answer = share(0.25, maxTokens);
  const reserve = share(0.05, 4000);
  const summary = share(0.15, Math.min(maxTokens, 8192));
  return {
    window,
    comfortable: window - answer - reserve,
    most: window - share(0.05, 1000),
    keep: share(0.2, 20_000),
    summary,
    summaryInput: Math.floor(Math.max(window - summary - reserve - summaryInstructions, window / 4) * estimateShare),
  };
}

/** The size from which a conversation is compacted. Where the fixed part alone leaves no comfort, only what cannot be sent is. */
export function compactAbove({ comfortable, most }: Limits, overhead: number): number {
  return overhead < comfortable ? comfortable : most;
}

/** The tokens an answer may have behind a prompt of `size`: no more than the window has left, as far as that is known. */
export function answerTokens(maxTokens: number, { window, most }: Limits, size: number): number {
  const left = most - size;
  // A prompt that does not fit at all: the window is not what it is thought to be.
  if (left <= 0) return maxTokens;
  return Math.min(maxTokens, Math.max(left, Math.floor(window / 16)));
}
