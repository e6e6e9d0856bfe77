// Whether the next request fits the model's context, and what is done when it does not. What a compaction is stands in compact.ts.
import { findCut, keepAfterOverflow } from "../context/cut.ts";
import { estimateTokens } from "../context/estimate.ts";
import { answerTokens, compactAbove, contextLimits } from "../context/limits.ts";
import { type ContextSize, measureContext } from "../context/size.ts";
import type { Entry } from "../protocol/entry.ts";
import type { CompactionReason } from "../protocol/event.ts";
import { AppError } from "../util/error.ts";
import { grouped } from "../util/numbers.ts";
import type { CompactionInput, CompactionOutcome } from "./compact.ts";
import { promptText } from "./text.ts";

export interface RoomOptions extends Omit<CompactionInput, "reason" | "wishes"> {
  /** Whether room is made without being asked to. */
  readonly auto: boolean;
  /** How many compactions of this conversation have failed since the last one that did not, not counting passing reasons. */
  readonly failures: () => number;
}

/** Room is made at most once in a turn; `turn` numbers those of a prompt. */
export interface Room {
  /** Before a request. The reason why it cannot be sent, or undefined; a compaction that failed is its `cause`, and so it is in `recovery`. */
  prepare(turn: number): Promise<AppError | undefined>;
  /** The tokens the answer may have, as of the last `prepare`. */
  answerTokens(): number;
  /** After an overflow: makes room, and gives the reason why the request cannot be repeated, or undefined. No function when nothing helps. */
  recovery(turn: number, overflow: AppError): (() => Promise<AppError | undefined>) | undefined;
  /** The provider's overflow error with what takes the room. */
  explain(overflow: AppError): AppError;
}

/** The type of the custom entry that a failed compaction leaves in the session. */
export const failedCompaction = "compaction_failed";

/** Whether an entry says that a compaction failed for a reason that does not pass by itself. */
export function isFailedCompaction(entry: Entry): boolean {
  if (entry.type !== "custom" || entry.customType !== failedCompaction) return false;
  return (entry.data as { retryable?: unknown } | undefined)?.retryable !== true;
}

/** Failures after which a conversation is compacted by hand only. */
const maxFailures = 3;

export function createRoom(options: RoomOptions): Room {
  const { model, store, maxTokens } = options;
  const limits = contextLimits(model.contextWindow, maxTokens);
  let triedIn: number | undefined;
  let size: ContextSize;

  function measure(): ContextSize {
    const system = promptText(options.system);
    size = measureContext({ model, system, tools: options.system.toolsAdded ?? [], messages: store.messages() });
    return size;
  }

  function mayTry(turn: number): boolean {
    return options.auto && triedIn !== turn && options.failures() < maxFailures;
  }

  /** Where the request after the last compaction was too large already, another one must take away enough to be worth it. */
  function isWorthwhile({ tokens, overhead, afterCompaction }: ContextSize): boolean {
    const messages = store.messages();
    const cut = findCut(messages, limits.keep);
    if (!cut) return false;
    const bound = compactAbove(limits, overhead);
    if (afterCompaction === undefined || afterCompaction <= bound) return true;
    return tokens - estimateTokens(messages.slice(cut.from, cut.to)) + limits.summary <= bound;
  }

  async function run(reason: CompactionReason, turn: number): Promise<CompactionOutcome> {
    triedIn = turn;
    const { compact } = await import("./compact.ts");
    return compact({ ...options, reason });
  }

  /** An estimate alone must be above the whole window to keep a request from being tried. */
  function fits({ tokens, counted }: ContextSize): boolean {
    return tokens <= (counted ? limits.most : limits.window);
  }

  function explainSize(why: string, cause?: AppError): AppError {
    const { overhead, tokens } = size;
    const share = `the system prompt and the tools take about ${grouped(overhead)} of its ${grouped(limits.window)} tokens, the conversation about ${grouped(tokens - overhead)}`;
    return new AppError("context_overflow", `${why}: ${share}`, { hint: hint(overhead), cause });
  }

  function explain(overflow: AppError, more = "", cause?: AppError): AppError {
    measure();
    return explainSize(`${overflow.message}\nThe request does not fit the context window of ${model.id}${more}`, cause);
  }

  function hint(overhead: number): string {
    if (overhead > limits.window / 2)
      return "Offer fewer tools (--tools), shorten the AGENTS.md files, or choose a model with a larger window.";
    const byHand = options.auto ? "Begin a new conversation" : "Compact it (/compact), begin a new one";
    return `${byHand}, or choose a model with a larger window.`;
  }

  return {
    async prepare(turn) {
      const before = measure();
      let failure: AppError | undefined;
      if (before.tokens > compactAbove(limits, before.overhead) && mayTry(turn) && isWorthwhile(before)) {
        failure = (await run("threshold", turn)).error;
        if (failure?.code === "aborted") return failure;
        measure();
      }
      // A failed compaction is no reason to hold back what may fit all the same.
      if (!options.auto || fits(size)) return undefined;
      const problem = `The request does not fit the context window of ${model.id}`;
      return explainSize(failure ? `${problem}, and compacting failed (${failure.message})` : problem, failure);
    },
    answerTokens: () => answerTokens(maxTokens, limits, size.tokens),
    recovery(turn, overflow) {
      const messages = store.messages();
      if (!mayTry(turn) || !findCut(messages, keepAfterOverflow(messages, limits.keep))) return undefined;
      return async () => {
        const { error } = await run("overflow", turn);
        return error && error.code !== "aborted"
          ? explain(overflow, `, and compacting failed (${error.message})`, error)
          : error;
      };
    },
    explain: (overflow) => explain(overflow),
  };
}
