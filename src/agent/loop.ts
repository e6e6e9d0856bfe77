// The loop: ask the model, run the tools it calls, ask again, until it answers without calls or a limit ends it.
import type { AgentEvent } from "../protocol/event.ts";
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
import type { DeniedCall } from "../protocol/outcome.ts";
import type { Provider } from "../providers/provider.ts";
import type { Conversation } from "../session/session.ts";
import { AppError, abortError } from "../util/error.ts";
import { unlessAborted } from "../util/unless-aborted.ts";
import { abortedAnswer, createAnswering } from "./answer.ts";
import { executeTool, type ToolEnvironment } from "./execute-tool.ts";
import { createLimits, type LimitOptions, notRunText } from "./limits.ts";
import { type MessageSource, type QueueKind, userMessage } from "./queue.ts";
import type { Room } from "./room.ts";
import { textOf } from "./text.ts";

/** Turns in a row whose calls the output limit cut, after which the loop gives up. */
const maxCutTurns = 3;

/** How often an answer that is not as it should be goes back to the model. */
const maxRejections = 2;

/** Who is asked, and what depends on that. */
export interface LoopTarget {
  readonly provider: Provider;
  readonly model: Model;
  readonly environment: ToolEnvironment;
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** Makes room in the model's context; without it every request is sent as it is. */
  readonly room?: Room;
}

/** A model that takes over; `announce` records and tells it, once the answer that failed is out of the way. */
export interface Fallback {
  readonly target: LoopTarget;
  announce(): void;
}

/** An answer as it is taken, or what is wrong with it, one problem a line, and the same in words for the model. */
export type Review = { readonly accepted: string } | { readonly problems: string; readonly complaint: string };

export interface LoopInput extends LoopTarget, LimitOptions {
  /** The prompt in force, looked up for each request; announced before the first user message of a conversation. */
  readonly system: SystemMessage;
  readonly announceSystem: boolean;
  /** Awaited before each turn: puts a prompt and tools that have changed in force, and gives what is to be announced of that. */
  readonly changeSystem?: (() => Promise<SystemMessage | undefined>) | undefined;
  /** The conversation so far; the loop adds each message before it announces it. */
  readonly conversation: Conversation;
  /** Undefined for a run that begins with what waits in the queue. */
  readonly prompt: Message | undefined;
  /** How often a request that failed for a passing reason is sent again. */
  readonly maxRetries: number;
  /** The one who is asked from now on in the place of `failed`, after a failure that repetitions did not get over. */
  readonly fallback?: ((failure: AppError, failed: Model) => Fallback | undefined) | undefined;
  /** Judges an answer that would be the last. */
  readonly review?: ((answer: string) => Review) | undefined;
  /** Ends the run at once; an `AppError` as the reason makes it end with this error. */
  readonly signal: AbortSignal;
  /** Ends the wait before a repetition, and with it the run. Asked for anew before each wait. */
  readonly retrySignal?: (() => AbortSignal) | undefined;
  /** What the user says while it runs. Steering messages come in between two turns, follow-ups when the answer would be the last. */
  readonly queue?: MessageSource | undefined;
  /** Awaited before each turn: resolves when observers have caught up. */
  readonly ready?: (() => Promise<unknown>) | undefined;
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
  const limits = createLimits(input);
  const answering = createAnswering(input, limits, { begin, end, omit, stop });
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
    const limit = outcome.status === "aborted" ? abortError(signal) : undefined;
    return { ...outcome, ...(limit ? { status: "error", error: limit } : {}), answered, denied };
  }

  async function announceChange(): Promise<void> {
    const change = signal.aborted ? undefined : await input.changeSystem?.();
    if (change) announce(change);
  }

  /** An abort is dealt with where the request would be made. */
  function unlessOver(error: unknown): void {
    if (!signal.aborted) throw error;
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
    const message = abortedAnswer(answering.target(), signal, conversation.messages());
    announce(message);
    emit({ type: "turn_end", message, toolResults: [] });
  }

  /** Runs the calls of an answer, one after another; results go into the history. */
  async function runCalls(calls: readonly ToolCall[], cut: ReadonlySet<ToolCall>, stopReason: StopReason) {
    const cutBy = stopReason === "length" ? cutByLimit : cutSomehow;
    const results: ToolResultMessage[] = [];
    let fatal: AppError | undefined;
    for (const call of calls) {
      if (!limits.takeCall()) {
        const message = notRun(call);
        announce(message);
        results.push(message);
        continue;
      }
      const runnable = cut.has(call) ? { ...call, argumentsError: `${cutBy} ${smaller}` } : call;
      const outcome = await executeTool(runnable, answering.target().environment, signal, emit);
      if (outcome.denied) denied.push(outcome.denied);
      fatal ??= outcome.fatal;
      announce(outcome.message);
      results.push(outcome.message);
    }
    return { results, fatal };
  }

  begin();
  if (input.announceSystem) announce(input.system);
  else await announceChange();
  if (input.prompt) say(input.prompt);
  let due: QueueKind = (!input.prompt && nextQueue()) || "steering";
  let rejections = 0;
  /** What is wrong with the last answer. */
  let complaint: string | undefined;
  /** What the model had said when it paused. */
  let begun = "";

  for (let turn = 1; ; turn++) {
    if (turn > 1) emit({ type: "turn_start" });
    if (complaint !== undefined) say(userMessage(complaint));
    complaint = undefined;
    if (deliver(due) > 0) {
      limits.restart();
      rejections = 0;
    }
    due = "steering";
    if (input.ready) await unlessAborted(input.ready(), signal).catch(unlessOver);
    if (turn > 1) await announceChange();
    const { message, failure, cutCalls, paused } = await answering.next(turn);
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
    limits.answered(message.usage);
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
      const ending = judgeAnswer(message, text, answering.target().maxTokens);
      const next = ending.status === "done" ? nextQueue() : undefined;
      if (next !== undefined) {
        due = next;
        continue;
      }
      const isReviewed = ending.status === "done" || ending.error?.code === "empty_answer";
      const review = isReviewed ? input.review?.(text) : undefined;
      if (!review) return finish(ending);
      if ("accepted" in review) return finish({ ...ending, text: review.accepted });
      if (rejections++ === maxRejections) return finish({ status: "error", error: rejected(review.problems), text });
      complaint = review.complaint;
    }
    cutTurns = cut.size > 0 ? cutTurns + 1 : 0;
    const { maxTokens } = answering.target();
    if (cutTurns === maxCutTurns) return finish({ status: "error", error: cutTooOften(maxTokens), text });
    const limit = limits.reached();
    if (limit) return finish({ status: "error", error: limit, text });
  }
}

/** The result of a call that the limit of calls keeps from running. */
function notRun({ id, name }: ToolCall): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: [{ type: "text", text: notRunText }],
    isError: true,
    timestamp: Date.now(),
  };
}

type Ending = Omit<LoopOutcome, "denied" | "answered">;

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

function rejected(problems: string): AppError {
  return new AppError("output_schema", `The answer is still not what --output-schema asks for\n${problems}`);
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
