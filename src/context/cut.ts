// Where a conversation may be cut in two, and where a compaction cuts it. Pure.
import type { Message } from "../protocol/message.ts";
import { estimateTokens } from "./estimate.ts";
import { bodyStart } from "./size.ts";

export interface Cut {
  /** What is summarized begins here; a summary of what came earlier, if there is one, stands before it. */
  readonly from: number;
  /** The first message that is kept; the conversation's length when none is. */
  readonly to: number;
}

/**
 * The positions at which no call is open: the part behind one never holds the result of a call before it, and begins with no result.
 * The end counts if every call of the last answer has its result, or something that follows shows that it never will.
 */
export function safeCuts(messages: readonly Message[]): number[] {
  const safe = messages.map(({ role }) => role !== "toolResult" && role !== "system");
  let answer = -1;
  const open = new Set<string>();
  messages.forEach((message, i) => {
    if (message.role === "assistant" && message.stopReason !== "error") {
      answer = i;
      open.clear();
      for (const block of message.content) if (block.type === "toolCall") open.add(block.id);
    } else if (message.role === "toolResult") {
      open.delete(message.toolCallId);
      // Whatever came between the call and this result stays with them.
      if (answer >= 0) safe.fill(false, answer + 1, i + 1);
    }
  });
  const abandoned = answer >= 0 && messages.slice(answer + 1).some(({ role }) => role !== "toolResult");
  const cuts = safe.flatMap((isSafe, i) => (isSafe ? [i] : []));
  return open.size === 0 || abandoned ? [...cuts, messages.length] : cuts;
}

/**
 * Keeps about `keep` tokens of the end: whole turns where they fill half of that, and up to twice as much to have the last user message. An input that waits for its answer is always kept. Undefined when there is nothing to summarize.
 */
export function findCut(messages: readonly Message[], keep: number): Cut | undefined {
  const from = bodyStart(messages);
  const cuts = safeCuts(messages).filter((i) => i >= from);
  const sizes = sizesToEnd(messages);
  const sizeFrom = (i: number) => sizes[i] ?? 0;
  const isInput = (i: number) => isUserInput(messages[i]);
  const lastInput = cuts.findLast(isInput);
  const isWaiting = lastInput !== undefined && lastInput === messages.length - 1;
  const starts = cuts.filter((i) => i < messages.length);

  const fitting = starts.filter((i) => sizeFrom(i) <= keep);
  const turn = fitting.find(isInput);
  let to = turn !== undefined && sizeFrom(turn) >= keep / 2 ? turn : fitting[0];
  // A conversation that fits as a whole is cut in front of its last turn.
  if (to !== undefined && to === starts[0]) to = lastInput;
  if (lastInput !== undefined && (to === undefined || to > lastInput)) {
    // Its turn may be longer than what is kept of others, as long as cutting in front of it takes away a good part.
    const turnSize = sizeFrom(lastInput);
    if (isWaiting || (turnSize <= 2 * keep && turnSize <= 0.75 * sizeFrom(from))) to = lastInput;
  }
  if (to === undefined) {
    const last = starts.at(-1);
    const end = cuts.includes(messages.length) ? messages.length : undefined;
    to = last !== undefined && last > from && (sizeFrom(last) <= 2 * keep || end === undefined) ? last : end;
  }
  if (to === undefined || !messages.slice(from, to).some(({ role }) => role !== "system")) return undefined;
  return { from, to };
}

/** For each message the tokens from it to the end. */
function sizesToEnd(messages: readonly Message[]): number[] {
  const sizes = messages.map((message) => estimateTokens([message]));
  for (let i = sizes.length - 2; i >= 0; i--) sizes[i] = (sizes[i] as number) + (sizes[i + 1] as number);
  return sizes;
}

/** What to keep when the provider says that a request is too large: the window may be smaller than is known. */
export function keepAfterOverflow(messages: readonly Message[], keep: number): number {
  return Math.min(keep, Math.floor(estimateTokens(messages) / 4));
}

export function isUserInput(message: Message | undefined): boolean {
  return message?.role === "user";
}
