// How full a model's context is: what the provider counted last, and an estimate of what was added since. Pure.
import type { AssistantMessage, Message, ToolSpec } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import { estimateMessage, estimateOverhead, estimateTokens } from "./estimate.ts";

export interface Context {
  readonly model: Pick<Model, "id" | "provider" | "contextWindow">;
  /** The whole prompt text. */
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
}

export interface ContextSize {
  /** What the next request would carry. */
  readonly tokens: number;
  /** Whether a provider's count is at the bottom of it; else all of it is estimated. */
  readonly counted: boolean;
  /** What of it no compaction can take away: the system prompt and the tools. */
  readonly overhead: number;
  /** The size of the first request after the latest compaction; undefined as long as none was answered. */
  readonly afterCompaction: number | undefined;
}

/** A count this many times smaller than the estimate is no count of the whole prompt. */
const tooFewTimes = 4;

export function measureContext(context: Context): ContextSize {
  const { messages, system, tools } = context;
  const overhead = estimateOverhead(system, tools);
  const body = bodyStart(messages);
  const before = textBefore(messages);
  const count = (position: number) => countAt(context, { position, body, text: overhead + (before[position] ?? 0) });
  const size = { afterCompaction: sizeAfterCompaction(messages, body, overhead, count) };
  const position = messages.findLastIndex((_message, i) => count(i) !== undefined);
  const last = count(position);
  if (!last) return { tokens: overhead + estimateTokens(messages), counted: false, overhead, ...size };
  // Providers may add to the prompt; what is far beyond the messages must be theirs.
  const hidden = last.prompt - 2 * estimateTokens(messages.slice(0, position));
  const tokens = last.prompt + last.output + estimateTokens(messages.slice(position + 1));
  return { tokens, counted: true, overhead: Math.max(overhead, hidden), ...size };
}

/** For each message the tokens of text in front of it: one pass, since a long session may have many answers whose count is of no use. */
function textBefore(messages: readonly Message[]): number[] {
  let sum = 0;
  return messages.map((message) => {
    const before = sum;
    sum += estimateMessage(message).text;
    return before;
  });
}

/** The position behind the system message and summary that a compacted conversation begins with. */
export function bodyStart(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role }) => role === "compactionSummary") + 1;
}

interface Place {
  readonly position: number;
  /** Where the conversation's body begins, see `bodyStart`. */
  readonly body: number;
  /** The estimate of the request's text, its overhead included. */
  readonly text: number;
}

/**
 * The provider's count of the request that this message answered, and of the answer. Undefined for one that cannot be relied on: the
 * answer failed, came from another model, is older than the latest compaction, or its count cannot be of the whole prompt.
 */
function countAt({ messages, model }: Context, { position, body, text }: Place) {
  const answer = messages[position];
  if (answer?.role !== "assistant" || isFailed(answer) || isOlderThan(messages[body - 1], answer)) return undefined;
  if (answer.provider !== model.provider || answer.model !== model.id) return undefined;
  const { input, cacheRead, cacheWrite, output } = answer.usage;
  const prompt = input + cacheRead + cacheWrite;
  if (prompt <= 0 || prompt + output > model.contextWindow) return undefined;
  return prompt * tooFewTimes < text ? undefined : { prompt, output };
}

function isFailed({ stopReason }: AssistantMessage): boolean {
  return stopReason === "error" || stopReason === "aborted" || stopReason === "pending";
}

/** Whether an answer was given before the conversation in front of it was summarized; both times are Unix milliseconds. */
export function isOlderThanSummary(messages: readonly Message[], answer: AssistantMessage): boolean {
  return isOlderThan(messages[bodyStart(messages) - 1], answer);
}

function isOlderThan(summary: Message | undefined, { timestamp }: AssistantMessage): boolean {
  return summary !== undefined && timestamp <= summary.timestamp;
}

/** The time of an answer that is asked for now: behind the summary in front of it, whatever the clock says. */
export function answerTime(messages: readonly Message[], now: number): number {
  const summary = messages[bodyStart(messages) - 1];
  return summary ? Math.max(now, summary.timestamp + 1) : now;
}

function sizeAfterCompaction(
  messages: readonly Message[],
  body: number,
  overhead: number,
  count: (position: number) => { readonly prompt: number } | undefined,
): number | undefined {
  if (body === 0) return undefined;
  const first = messages.findIndex(
    (message, i) =>
      i >= body && message.role === "assistant" && !isFailed(message) && !isOlderThan(messages[body - 1], message),
  );
  if (first < 0) return undefined;
  return count(first)?.prompt ?? overhead + estimateTokens(messages.slice(0, first));
}
