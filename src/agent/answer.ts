// One answer of the model, however often it takes to ask: repeated for failures that pass, once more when there is room again, and at last
// by the next model of those that stand in for it.
import { withoutKeptThinking } from "../context/kept-thinking.ts";
import { answerTime } from "../context/size.ts";
import type { AssistantMessage, Message } from "../protocol/message.ts";
import type { Chunk } from "../providers/provider.ts";
import { AppError, abortError } from "../util/error.ts";
import { emptyAnswer, type FoldResult, foldStream } from "./fold-stream.ts";
import type { Limits } from "./limits.ts";
import type { Fallback, LoopInput, LoopTarget } from "./loop.ts";
import { repairHistory } from "./repair-history.ts";
import { describeShortWait, pause, retryDelay } from "./retry.ts";
import { promptText } from "./text.ts";

export type Answer = FoldResult & {
  readonly message: AssistantMessage;
  /** Why the request was not sent. */
  readonly held: AppError | undefined;
};

/** Where it is told what happens, each attempt as a run of its own. */
export interface RunLog {
  begin(): void;
  /** Adds a message that has been told of. */
  end(message: Message): void;
  /** Takes an answer that failed out of what follows, and tells so. */
  omit(message: Message): void;
  stop(willRetry: boolean): void;
}

export interface Answering {
  /** Who is asked now. */
  target(): LoopTarget;
  /** The next answer; its `turn_end` is the caller's while the run lasts. */
  next(turn: number): Promise<Answer>;
}

export function createAnswering(input: LoopInput, limits: Pick<Limits, "cost">, log: RunLog): Answering {
  const { conversation, emit, signal } = input;
  let target: LoopTarget = input;

  /** Ends the run of an answer that failed, so that another one can begin. */
  function endAttempt(message: AssistantMessage): void {
    emit({ type: "turn_end", message, toolResults: [] });
    log.stop(true);
  }

  /** Waits before a repetition; the reason why there is none, or undefined. */
  async function waitFor(delayMs: number): Promise<"aborted" | "given up" | undefined> {
    const retrySignal = input.retrySignal?.();
    await pause(delayMs, retrySignal ? AbortSignal.any([signal, retrySignal]) : signal);
    if (signal.aborted) return "aborted";
    return retrySignal?.aborted ? "given up" : undefined;
  }

  /** Who takes over, where another model may get over the failure. */
  function standIn(failure: AppError): Fallback | undefined {
    const passing = passingFailure(failure);
    return passing && !limits.cost() ? input.fallback?.(passing, target.model) : undefined;
  }

  /** The next attempt is the first one of `other`. */
  function handOver(other: Fallback): void {
    other.announce();
    target = other.target;
    log.begin();
  }

  async function next(turn: number): Promise<Answer> {
    for (let attempt = 0; ; ) {
      const result = await ask(input, target, turn, limits);
      log.end(result.message);
      const { failure } = result;
      const { room } = target;
      if (failure?.code === "context_overflow" && failure !== result.held && room) {
        conversation.omit(result.message);
        const makeRoom = room.recovery(turn, failure);
        if (!makeRoom) return { ...result, failure: room.explain(failure) };
        endAttempt(result.message);
        const refusal = await makeRoom();
        if (!refusal) log.begin();
        else {
          const other = standIn(refusal);
          if (!other) return { ...result, failure: refusal };
          attempt = 0;
          handOver(other);
        }
        continue;
      }
      const overspent = failure?.retryable ? limits.cost() : undefined;
      const policy = { provider: target.provider, maxRetries: overspent ? 0 : input.maxRetries };
      const delayMs = failure && retryDelay(failure, attempt + 1, policy, Math.random());
      if (failure === undefined || delayMs === undefined) {
        const finalError = failure ? { finalError: failure.message } : {};
        if (attempt > 0) emit({ type: "auto_retry_end", success: !failure, attempt, ...finalError });
        if (overspent) return { ...result, failure: overspent };
        const other = failure && standIn(failure);
        if (!other) return result;
        endAttempt(result.message);
        log.omit(result.message);
        attempt = 0;
        handOver(other);
        continue;
      }
      attempt++;
      endAttempt(result.message);
      const errorMessage = failure.message;
      emit({ type: "auto_retry_start", attempt, maxAttempts: input.maxRetries, delayMs, errorMessage });
      log.omit(result.message);
      const shortened = describeShortWait(failure, delayMs);
      if (shortened !== undefined) input.notify?.(shortened);
      const ended = await waitFor(delayMs);
      if (ended !== undefined) {
        emit({ type: "auto_retry_end", success: false, attempt, finalError: "Retry aborted" });
        return ended === "aborted" ? { ...result, failure: new AppError("aborted", "Request aborted") } : result;
      }
      log.begin();
    }
  }

  return { target: () => target, next };
}

/** The failure itself where it would pass, or the one that kept a compaction from making room. */
function passingFailure(failure: AppError): AppError | undefined {
  if (failure.retryable) return failure;
  const { code, cause } = failure;
  return code === "context_overflow" && cause instanceof AppError && cause.retryable ? cause : undefined;
}

/** One request and its answer; one that cannot fit, or for which a compaction left no money, is answered with the reason and never sent. */
async function ask(input: LoopInput, target: LoopTarget, turn: number, limits: Pick<Limits, "cost">): Promise<Answer> {
  const { provider, model, room } = target;
  const held = (await room?.prepare(turn)) ?? limits.cost();
  const history = input.conversation.messages();
  const message: AssistantMessage = { ...emptyAnswer(target), timestamp: answerTime(history, Date.now()) };
  const request = {
    model,
    system: promptText(input.system),
    messages: repairHistory(model.adaptiveThinking ? withoutKeptThinking(history) : history),
    tools: target.environment.tools.specs,
    maxTokens: room?.answerTokens() ?? target.maxTokens,
    temperature: target.temperature,
    thinkingLevel: target.thinkingLevel,
  };
  const chunks = held ? failing(held) : provider.stream(request, input.signal);
  const result = await foldStream(chunks, message, model.cost, input.emit, input.notify);
  return { message, held, ...result };
}

/** Says, as an answer, that no answer is asked for any more. */
export function abortedAnswer(target: LoopTarget, signal: AbortSignal, history: readonly Message[]): AssistantMessage {
  return {
    ...emptyAnswer(target),
    stopReason: "aborted",
    errorMessage: abortError(signal)?.message ?? "Request aborted",
    timestamp: answerTime(history, Date.now()),
  };
}

// biome-ignore lint/correctness/useYield: an answer that never begins
async function* failing(error: AppError): AsyncIterable<readonly Chunk[]> {
  throw error;
}
