// The loop: ask the model, run the tools it calls, ask again, until it answers without calls or a limit ends it.
import { withoutKeptThinking } from "../context/kept-thinking.ts";
import { answerTime } from "../context/size.ts";
import type { AgentEvent, DeniedCall } from "../protocol/event.ts";
import type {
  AssistantMessage,
  Message,
  StopReason,
  SystemMessage,
  ThinkingLevel,
  ToolCall,
  ToolResultMessage,
} from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { Chunk, Provider } from "../providers/provider.ts";
import { emptyUsage } from "../providers/usage.ts";
import type { Conversation } from "../session/session.ts";
import { AppError } from "../util/error.ts";
import { executeTool, type ToolEnvironment } from "./execute-tool.ts";
import { type FoldResult, foldStream } from "./fold-stream.ts";
import type { MessageSource, QueueKind } from "./queue.ts";
import { repairHistory } from "./repair-history.ts";
import { describeShortWait, pause, retryDelay } from "./retry.ts";
import type { Room } from "./room.ts";

/** Turns in a row whose calls the output limit cut, after which the loop gives up. */
const maxCutTurns = 3;

export interface LoopInput {
  readonly provider: Provider;
  readonly model: Model;
  /** The prompt in force; announced before the first user message of a conversation. */
  readonly system: SystemMessage;
  readonly announceSystem: boolean;
  /** The conversation so far; the loop adds each message before it announces it. */
  readonly conversation: Conversation;
  /** Undefined for a run that begins with what waits in the queue. */
  readonly prompt: Message | undefined;
  readonly environment: ToolEnvironment;
  readonly maxTokens: number;
  readonly maxTurns: number;
  /** How often a request that failed for a passing reason is sent again. */
  readonly maxRetries: number;
  readonly temperature: number | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly signal: AbortSignal;
  /** Ends the wait before a repetition, and with it the run. Asked for anew before each wait. */
  readonly retrySignal?: (() => AbortSignal) | undefined;
  /** What the user says while it runs. Steering messages come in between two turns, follow-ups when the answer would be the last. */
  readonly queue?: MessageSource | undefined;
  /** Awaited before each turn: resolves when observers have caught up. */
  readonly ready?: (() => Promise<unknown>) | undefined;
  /** Makes room in the model's context; without it every request is sent as it is. */
  readonly room?: Room;
  readonly emit: (event: AgentEvent) => void;
  /** Tells the user something that is no part of the conversation. */
  readonly notify?: (text: string) => void;
}

export interface LoopOutcome {
  readonly status: "done" | "error" | "aborted";
  /** Why it did not end well; set for `error`. */
  readonly error?: AppError;
  /** The text of the last answer, with what came before a pause in it; incomplete unless `status` is `done`. */
  readonly text: string;
  /** The text is an answer, but for what the output limit cut off. */
  readonly isCut?: boolean;
  /** Whether anything came of the prompt; else it is no part of the conversation any more. */
  readonly answered: boolean;
  /** The calls that the gate refused. */
  readonly denied: readonly DeniedCall[];
}

/**
 * One prompt, from `agent_start` to `agent_end`. Never rejects for what a provider or tool does. Requests that fail for a passing reason are
 * repeated, each time as a run of its own. A prompt that brought nothing leaves the history as it was; finished rounds stay.
 */
export async function runLoop(input: LoopInput): Promise<LoopOutcome> {
  const { conversation, emit, signal } = input;
  const denied: DeniedCall[] = [];
  let announced: Message[] = [];
  let running = false;
  let cutTurns = 0;
  let answered = false;
  /** What the user said that no answer has followed yet. */
  const unanswered: Message[] = [];

  function begin(): void {
    running = true;
    emit({ type: "agent_start" });
    emit({ type: "turn_start" });
  }

  function announce(message: Message): void {
    emit({ type: "message_start", message });
    end(message);
  }

  function end(message: Message): void {
    conversation.add(message);
    announced.push(message);
    emit({ type: "message_end", message });
  }

  /** Takes an answer that failed out of what follows, and tells so. */
  function omit(message: Message): void {
    const entry = conversation.omit(message);
    if (entry) emit({ type: "entry_appended", entry });
  }

  function stop(willRetry: boolean): void {
    if (running) emit({ type: "agent_end", messages: announced, willRetry });
    running = false;
    announced = [];
  }

  function finish(outcome: Ending): LoopOutcome {
    // A prompt that nothing came of is not asked again with the next one.
    if (outcome.status !== "done" && !answered) for (const message of unanswered) conversation.omit(message);
    stop(false);
    return { ...outcome, answered, denied };
  }

  function say(message: Message): void {
    announce(message);
    if (!answered) unanswered.push(message);
  }

  /** Lets the messages of the queue that are due have their turn, and gives their number. */
  function deliver(kind: QueueKind): number {
    const due = input.queue?.due(kind) ?? 0;
    for (let left = due; left > 0; left--) {
      const message = input.queue?.take(kind);
      if (message) say(message);
    }
    return due;
  }

  /** The queue that has its turn when an answer would be the last. */
  function nextQueue(): QueueKind | undefined {
    const kinds: QueueKind[] = ["steering", "followUp"];
    return kinds.find((kind) => (input.queue?.due(kind) ?? 0) > 0);
  }

  /** Says, as an answer of its own, that no answer is asked for any more. */
  function tellAbort(): void {
    emit({ type: "turn_start" });
    const message: AssistantMessage = {
      ...emptyAnswer(input),
      stopReason: "aborted",
      errorMessage: "Request aborted",
      timestamp: answerTime(conversation.messages(), Date.now()),
    };
    announce(message);
    emit({ type: "turn_end", message, toolResults: [] });
  }

  /**
   * The next answer, asked for again as long as it fails for a passing reason, or once when there is more room for it. Its `turn_end` is
   * the caller's while the run lasts.
   */
  async function answer(turn: number): Promise<Answer> {
    for (let attempt = 0; ; ) {
      const result = await ask(input, turn);
      end(result.message);
      const { failure } = result;
      if (failure?.code === "context_overflow" && failure !== result.held && input.room) {
        conversation.omit(result.message);
        const makeRoom = input.room.recovery(turn, failure);
        if (!makeRoom) return { ...result, failure: input.room.explain(failure) };
        emit({ type: "turn_end", message: result.message, toolResults: [] });
        stop(true);
        const refusal = await makeRoom();
        if (refusal) return { ...result, failure: refusal };
        begin();
        continue;
      }
      const delayMs = failure && retryDelay(failure, attempt + 1, input, Math.random());
      if (failure === undefined || delayMs === undefined) {
        const finalError = failure ? { finalError: failure.message } : {};
        if (attempt > 0) emit({ type: "auto_retry_end", success: !failure, attempt, ...finalError });
        return result;
      }
      attempt++;
      emit({ type: "turn_end", message: result.message, toolResults: [] });
      stop(true);
      const errorMessage = failure.message;
      emit({ type: "auto_retry_start", attempt, maxAttempts: input.maxRetries, delayMs, errorMessage });
      omit(result.message);
      const shortened = describeShortWait(failure, delayMs);
      if (shortened !== undefined) input.notify?.(shortened);
      const retrySignal = input.retrySignal?.();
      await pause(delayMs, retrySignal ? AbortSignal.any([signal, retrySignal]) : signal);
      if (signal.aborted || retrySignal?.aborted) {
        emit({ type: "auto_retry_end", success: false, attempt, finalError: "Retry aborted" });
        return signal.aborted ? { ...result, failure: new AppError("aborted", "Request aborted") } : result;
      }
      begin();
    }
  }

  /** Runs the calls of an answer, one after another; results go into the history. */
  async function runCalls(calls: readonly ToolCall[], cut: ReadonlySet<ToolCall>, stopReason: StopReason) {
    const cutBy = stopReason === "length" ? cutByLimit : cutSomehow;
    const results: ToolResultMessage[] = [];
    let fatal: AppError | undefined;
    for (const call of calls) {
      const runnable = cut.has(call) ? { ...call, argumentsError: `${cutBy} ${smaller}` } : call;
      const outcome = await executeTool(runnable, input.environment, signal, emit);
      if (outcome.denied) denied.push(outcome.denied);
      fatal ??= outcome.fatal;
      announce(outcome.message);
      results.push(outcome.message);
    }
    return { results, fatal };
  }

  begin();
  if (input.announceSystem) announce(input.system);
  if (input.prompt) say(input.prompt);
  let due: QueueKind = (!input.prompt && nextQueue()) || "steering";
  let firstTurn = 1;
  /** What the model had said when it paused. */
  let begun = "";

  for (let turn = 1; ; turn++) {
    if (turn > 1) emit({ type: "turn_start" });
    if (deliver(due) > 0) firstTurn = turn;
    due = "steering";
    if (input.ready) await unlessAborted(input.ready(), signal);
    const { message, failure, cutCalls, paused } = await answer(turn);
    const text = begun + textOf(message);
    if (failure) {
      const aborted = failure.code === "aborted";
      // What was said before an abort stays; an answer that failed is no part of what follows.
      if (aborted && running && message.content.length > 0) answered = true;
      else conversation.omit(message);
      if (running) emit({ type: "turn_end", message, toolResults: [] });
      return finish({ status: aborted ? "aborted" : "error", error: failure, text });
    }
    answered = true;
    const calls = message.content.filter((block) => block.type === "toolCall");
    const last = calls.at(-1);
    const cut = last && message.stopReason === "length" ? new Set([...cutCalls, last]) : cutCalls;
    const { results, fatal } = await runCalls(calls, cut, message.stopReason);
    emit({ type: "turn_end", message, toolResults: results });
    if (fatal) return finish({ status: "error", error: fatal, text });
    if (signal.aborted) {
      if (calls.length > 0) tellAbort();
      return finish({ status: "aborted", text });
    }
    const goesOn = paused && textOf(message).trim() !== "";
    begun = goesOn ? text : "";
    if (calls.length === 0 && !goesOn) {
      const ending = judgeAnswer(message, text, input.maxTokens);
      const next = ending.status === "done" ? nextQueue() : undefined;
      if (next === undefined) return finish(ending);
      due = next;
      continue;
    }
    cutTurns = cut.size > 0 ? cutTurns + 1 : 0;
    if (cutTurns === maxCutTurns) return finish({ status: "error", error: cutTooOften(input.maxTokens), text });
    const turns = turn - firstTurn + 1;
    if (turns >= input.maxTurns) return finish({ status: "error", error: turnLimit(turns), text });
  }
}

type Ending = Omit<LoopOutcome, "denied" | "answered">;
type Answer = FoldResult & {
  readonly message: AssistantMessage;
  /** Why the request was not sent. */
  readonly held: AppError | undefined;
};

/** One request and its answer; a request that cannot fit is answered with the reason and never sent. */
async function ask(input: LoopInput, turn: number): Promise<Answer> {
  const { provider, model, room } = input;
  const held = await room?.prepare(turn);
  const history = input.conversation.messages();
  const message: AssistantMessage = { ...emptyAnswer(input), timestamp: answerTime(history, Date.now()) };
  const request = {
    model,
    system: promptText(input.system),
    messages: repairHistory(model.adaptiveThinking ? withoutKeptThinking(history) : history),
    tools: input.environment.tools.specs,
    maxTokens: room?.answerTokens() ?? input.maxTokens,
    temperature: input.temperature,
    thinkingLevel: input.thinkingLevel,
  };
  const chunks = held ? failing(held) : provider.stream(request, input.signal);
  const result = await foldStream(chunks, message, model.cost, input.emit, input.notify);
  return { message, held, ...result };
}

function emptyAnswer({ provider, model, thinkingLevel }: LoopInput): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: provider.api,
    provider: provider.name,
    model: model.id,
    usage: emptyUsage(),
    stopReason: "pending",
    thinkingLevel: thinkingLevel ?? "off",
    timestamp: 0,
  };
}

/** Waits for `promise`, but no longer than until the abort. */
function unlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const abort = () => resolve();
  signal.addEventListener("abort", abort);
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

// biome-ignore lint/correctness/useYield: an answer that never begins
async function* failing(error: AppError): AsyncIterable<readonly Chunk[]> {
  throw error;
}

const cutByLimit = "not run: the output limit cut this call off before it was complete.";
const cutSomehow = "not run: the arguments stop in the middle, most likely because the output limit cut this call off.";
const smaller = "Make smaller calls, for instance write a file in several pieces";

function cutTooOften(maxTokens: number): AppError {
  return new AppError(
    "output_limit",
    `The output limit of ${maxTokens} tokens cut off the model's tool calls ${maxCutTurns} times in a row`,
    {
      hint: "Raise --max-tokens, or ask for smaller steps.",
    },
  );
}

function turnLimit(turns: number): AppError {
  return new AppError("turn_limit", `Stopped after ${turns} turn${turns === 1 ? "" : "s"}: the turn limit is reached`, {
    hint: "Raise --max-turns, or go on with a further prompt.",
  });
}

/** An answer without calls ends the run, well if it says something whole. */
function judgeAnswer(message: AssistantMessage, text: string, maxTokens: number): Ending {
  if (text.trim() === "") {
    return { status: "error", error: new AppError("empty_answer", "The model returned an empty answer"), text };
  }
  if (message.stopReason === "length") {
    const error = new AppError("output_limit", `The output limit of ${maxTokens} tokens cut the answer off`, {
      hint: "Raise --max-tokens.",
    });
    return { status: "error", error, text, isCut: true };
  }
  return { status: "done", text };
}

export function textOf(message: AssistantMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** A system message as one text: its content, then its sections in order. */
export function promptText(system: SystemMessage): string {
  const content =
    typeof system.content === "string" ? system.content : system.content.map(({ text }) => text).join("\n");
  return [content, ...Object.values(system.sections ?? {})].filter((part) => part).join("\n\n");
}
