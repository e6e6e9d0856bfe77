// The loop: ask the model, run the tools it calls, ask again, until it answers without calls or a limit ends it.
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
import type { Provider } from "../providers/provider.ts";
import { emptyUsage } from "../providers/usage.ts";
import type { Conversation } from "../session/session.ts";
import { AppError } from "../util/error.ts";
import { executeTool, type ToolEnvironment } from "./execute-tool.ts";
import { type FoldResult, foldStream } from "./fold-stream.ts";
import { repairHistory } from "./repair-history.ts";
import { pause, retryDelay } from "./retry.ts";

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
  readonly prompt: Message;
  readonly environment: ToolEnvironment;
  readonly maxTokens: number;
  readonly maxTurns: number;
  /** How often a request that failed for a passing reason is sent again. */
  readonly maxRetries: number;
  readonly temperature: number | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
  /** Tells the user something that is no part of the conversation. */
  readonly notify?: (text: string) => void;
}

export interface LoopOutcome {
  readonly status: "done" | "error" | "aborted";
  /** Why it did not end well; set for `error`. */
  readonly error?: AppError;
  /** The text of the last answer; incomplete unless `status` is `done`. */
  readonly text: string;
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

  function stop(willRetry: boolean): void {
    if (running) emit({ type: "agent_end", messages: announced, willRetry });
    running = false;
    announced = [];
  }

  function finish(outcome: Omit<LoopOutcome, "denied">): LoopOutcome {
    // A prompt that nothing came of is not asked again with the next one.
    if (outcome.status !== "done" && !answered) conversation.omit(input.prompt);
    stop(false);
    return { ...outcome, denied };
  }

  /** The next answer, asked for again as long as it fails for a passing reason. Its `turn_end` is the caller's while the run lasts. */
  async function answer(): Promise<Answer> {
    for (let attempt = 0; ; ) {
      const result = await ask(input);
      end(result.message);
      const { failure } = result;
      const delayMs = failure && retryDelay(failure, attempt + 1, input.maxRetries, Math.random());
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
      conversation.omit(result.message);
      await pause(delayMs, signal);
      if (signal.aborted) {
        emit({ type: "auto_retry_end", success: false, attempt, finalError: "Retry aborted" });
        return { ...result, failure: new AppError("aborted", "Request aborted") };
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
  announce(input.prompt);

  for (let turn = 1; ; turn++) {
    if (turn > 1) emit({ type: "turn_start" });
    const { message, failure, cutCalls, paused } = await answer();
    const text = textOf(message);
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
    if (signal.aborted) return finish({ status: "aborted", text });
    const goesOn = paused && text.trim() !== "";
    if (calls.length === 0 && !goesOn) return finish(judgeAnswer(message, text, input.maxTokens));
    cutTurns = cut.size > 0 ? cutTurns + 1 : 0;
    if (cutTurns === maxCutTurns) return finish({ status: "error", error: cutTooOften(input.maxTokens), text });
    if (turn === input.maxTurns) return finish({ status: "error", error: turnLimit(turn), text });
  }
}

type Answer = FoldResult & { readonly message: AssistantMessage };

/** One request and its answer. */
async function ask(input: LoopInput): Promise<Answer> {
  const { provider, model } = input;
  const started = performance.now();
  const message: AssistantMessage = {
    role: "assistant",
    content: [],
    api: provider.api,
    provider: provider.name,
    model: model.id,
    usage: emptyUsage(),
    stopReason: "pending",
    thinkingLevel: input.thinkingLevel ?? "off",
    timestamp: Date.now(),
  };
  const chunks = provider.stream(
    {
      model,
      system: promptText(input.system),
      messages: repairHistory(input.conversation.messages()),
      tools: input.environment.tools.specs,
      maxTokens: input.maxTokens,
      temperature: input.temperature,
      thinkingLevel: input.thinkingLevel,
    },
    input.signal,
  );
  const result = await foldStream(chunks, message, model.cost, input.emit, input.notify);
  message.durationMs = Math.round(performance.now() - started);
  return { message, ...result };
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
function judgeAnswer(message: AssistantMessage, text: string, maxTokens: number): Omit<LoopOutcome, "denied"> {
  if (text.trim() === "") {
    return { status: "error", error: new AppError("empty_answer", "The model returned an empty answer"), text };
  }
  if (message.stopReason === "length") {
    const error = new AppError("output_limit", `The output limit of ${maxTokens} tokens cut the answer off`, {
      hint: "Raise --max-tokens.",
    });
    return { status: "error", error, text };
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
