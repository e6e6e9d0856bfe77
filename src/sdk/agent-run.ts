// A run as it goes: the events of one message to the agent, and what comes of it.
import type { Message, Usage } from "../protocol/message.ts";
import type { ReceivedEvent, ReceivedRecord } from "../protocol/record.ts";
import type { Disposition } from "../protocol/rpc.ts";
import type { OrUnknown } from "../protocol/unknown.ts";
import type { Connection, OutgoingCommand } from "./connection.ts";
import { AbortedError, type AgentError, OverflowError, RunFailedError } from "./errors.ts";
import { createEventQueue } from "./event-queue.ts";
import { onAbort } from "./on-abort.ts";
import type { CallOptions } from "./options.ts";
import { foldOutcome, type Outcome } from "./outcome.ts";

/** What a run has come to. */
export interface RunOutcome extends Outcome {
  /** Whether the message began the run, joined one, or was dealt with at once; see `PromptDisposition`. */
  readonly disposition: Disposition["disposition"];
}

/**
 * The events of one message to the agent, from its acceptance to `agent_settled`, which is the last; empty for a message that was handled at
 * once. It begins by itself; to be iterated once. The methods may be called at any time, beside an iteration or instead of one, and resolve
 * when the run is over.
 *
 * Iterating and the methods throw `CommandError` when the agent refuses the message, `ExitError` when the process ends first (events that
 * came before are still given), `AbortedError` when the signal aborts, `ProtocolError`, `TimeoutError`, `ClosedError`. A run that fails in the
 * agent, such as at the provider, is told by its events, by `outcome` and by `text`. Leaving the loop early lets the run go on by itself.
 */
export interface AgentRun extends AsyncIterable<ReceivedEvent> {
  /** The last answer's text. Rejects with `RunFailedError` when the run did not end with a whole answer. */
  text(): Promise<string>;
  /** Every message that was added to the conversation, in order. */
  messages(): Promise<readonly OrUnknown<Message>[]>;
  /** Tokens and US dollars, the sum over all answers. */
  usage(): Promise<Usage>;
  /** All of it, however the run ended. */
  outcome(): Promise<RunOutcome>;
}

/** What a run is made of. */
export interface RunParts {
  readonly connection: Connection;
  readonly command: OutgoingCommand;
  readonly call: CallOptions;
  /** The command's `data` → what became of the message. */
  readonly toDisposition: (data: unknown) => Disposition["disposition"];
  /** Ends the run in the agent. */
  readonly abort: () => void;
  /** Something to wait for before the command is sent. */
  readonly ready: Promise<unknown> | undefined;
  readonly maxUnreadBytes: number;
}

/** Beyond so many times `maxUnreadBytes`, a run is read no further for the sake of a command's answer. */
const overflowFactor = 64;

/** Sends the message at once, or behind `ready`; what goes wrong is told by the run. */
export function startRun(parts: RunParts): AgentRun {
  const { connection, command, call, toDisposition, abort, ready, maxUnreadBytes } = parts;
  const fold = foldOutcome();
  let disposition: Disposition["disposition"] | undefined;
  let isOver = false;
  /** Who takes the events: nobody yet, a loop, or nobody ever, so that they need not be kept. */
  let taken: "undecided" | "loop" | "never" = "undecided";
  /** What came before the answer. */
  let early: { event: ReceivedEvent; bytes: number }[] = [];
  let earlyBytes = 0;
  let stopListening = () => {};
  let forgetSignal = () => {};
  /** True when the message has not been sent, and is not any more. */
  let takeBack = () => true;
  let resolve: (outcome: RunOutcome) => void;
  let reject: (error: AgentError) => void;
  const outcome = new Promise<RunOutcome>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // Whoever only iterates gets the error there.
  outcome.catch(() => {});

  const queue = createEventQueue<ReceivedEvent>({ onTaken: updateBehind, onLeft: letGo });

  /** The agent waits from one bound on and goes on at half of it. */
  function updateBehind(): void {
    const bytes = isOver ? 0 : queue.bytes();
    if (bytes > maxUnreadBytes) connection.setBehind(queue, true);
    else if (bytes <= maxUnreadBytes / 2) connection.setBehind(queue, false);
  }

  function letGo(): void {
    taken = "never";
    queue.clear();
    updateBehind();
  }

  function take(record: ReceivedRecord, bytes: number): void {
    if (!isEvent(record)) return;
    if (disposition === undefined) takeEarly(record, bytes);
    else add(record, bytes);
    const size = queue.bytes() + earlyBytes;
    if (size <= maxUnreadBytes * overflowFactor) return;
    letGo();
    fail(new OverflowError(size));
  }

  /** The answer comes before what it is about, so an end before the answer is that of an earlier run. */
  function takeEarly(event: ReceivedEvent, bytes: number): void {
    const isEnd = event.type === "agent_settled";
    if (isEnd) early = [];
    else early.push({ event, bytes });
    earlyBytes = isEnd ? 0 : earlyBytes + bytes;
  }

  function add(event: ReceivedEvent, bytes: number): void {
    fold.add(event);
    if (taken !== "never") {
      queue.push(event, bytes);
      updateBehind();
    }
    if (event.type === "agent_settled") finish();
  }

  function onAnswer(data: unknown): void {
    disposition = toDisposition(data);
    for (const { event, bytes } of early.splice(0)) add(event, bytes);
    earlyBytes = 0;
    if (disposition === "handled") finish();
  }

  function finish(error?: AgentError): void {
    if (isOver) return;
    isOver = true;
    stopListening();
    updateBehind();
    forgetSignal();
    queue.end(error);
    if (error) reject(error);
    else resolve({ disposition: disposition ?? "started", ...fold.outcome() });
  }

  const fail = (error: AgentError) => finish(error);

  function onSignal(): void {
    if (isOver) return;
    fail(new AbortedError(call.signal?.reason));
    if (!takeBack()) abort();
  }

  if (call.signal?.aborted) fail(new AbortedError(call.signal.reason));
  else {
    stopListening = connection.listen({ onRecord: take, onEnd: fail });
    forgetSignal = onAbort(call.signal, onSignal);
    takeBack = connection.request(command, {
      // The signal is not the command's, since it ends more than that.
      timeout: call.timeout,
      after: ready,
      onData: onAnswer,
      onError: fail,
    });
  }

  function whole(): Promise<RunOutcome> {
    // A loop may begin beside it.
    setImmediate(() => taken === "undecided" && letGo());
    return outcome;
  }

  return {
    [Symbol.asyncIterator]() {
      if (taken !== "undecided") {
        throw new Error("The events of a run are there once: iterate it before its methods are awaited");
      }
      taken = "loop";
      return queue;
    },
    outcome: whole,
    async text() {
      const { text, error } = await whole();
      if (!error) return text;
      throw new RunFailedError(error.message, { reason: error.code, hint: error.hint, text });
    },
    messages: async () => (await whole()).messages,
    usage: async () => (await whole()).usage,
  };
}

/** Questions and answers are no events of a run, nor is what a client's own commands print. */
function isEvent(record: ReceivedRecord): record is ReceivedEvent {
  return !notEvents.has(record.type);
}

const notEvents: ReadonlySet<string> = new Set([
  "response",
  "extension_ui_request",
  "session",
  "bash_execution_update",
]);
