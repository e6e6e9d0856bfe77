// The lines between a client and its agent: commands find their answers by id, everything else is told to whoever listens, and when the
// agent is gone, all that waits is told so at once.
import type { ReceivedRecord } from "../protocol/record.ts";
import type { UiResponse } from "../protocol/ui.ts";
import {
  AbortedError,
  type AgentError,
  ClosedError,
  CommandError,
  ExitError,
  type ProtocolError,
  TimeoutError,
} from "./errors.ts";
import { guarded } from "./guarded.ts";
import { type AgentProcess, launch } from "./launch.ts";
import { onAbort } from "./on-abort.ts";
import { type CallOptions, defaultMaxLineBytes, type StartOptions } from "./options.ts";
import { createRecordReader } from "./record-reader.ts";
import { startTimer } from "./timer.ts";

export type OutgoingCommand = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface Request extends CallOptions {
  /** The command is not sent before this has resolved; it waits like one that was sent. */
  readonly after?: Promise<unknown> | undefined;
  /** Told at once, before the next record is read; exactly one of the two, once. */
  readonly onData: (data: unknown) => void;
  readonly onError: (error: AgentError) => void;
  /** Hears what the command prints. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

export interface Listener {
  /** Every record but the answers to commands; `bytes` is the length of its line. */
  readonly onRecord: (record: ReceivedRecord, bytes: number) => void;
  /** Nothing more will come. */
  readonly onEnd?: (error: AgentError) => void;
}

export interface Connection {
  readonly pid: number;
  /** Sends a command, by an id of its own where it has none. Gives a function that takes it back: true when it had not been sent. */
  request(command: OutgoingCommand, request: Request): () => boolean;
  answer(response: UiResponse): void;
  /** Gives the function that ends the listening. */
  listen(listener: Listener): () => void;
  /**
   * Whether `holder` has more to read than it should keep. While any has, stdout is not read, so that the agent waits, except while a command
   * waits for its answer: that lies behind what is unread.
   */
  setBehind(holder: object, isBehind: boolean): void;
  close(): Promise<void>;
}

interface Pending extends Request {
  /** Takes away the timer and the signal's listener. */
  readonly settle: () => void;
  readonly command: string;
  /** Characters of its line. */
  readonly size: number;
}

/** Commands that are answered when their work is done. */
const lasting: ReadonlySet<string> = new Set(["abort", "bash", "compact"]);

/** What the agent does not answer. */
const unanswered = "extension_ui_response";

/** Starts an agent in RPC mode. Rejects with `SpawnError`. */
export async function connect(options: StartOptions): Promise<Connection> {
  const pending = new Map<string, Pending>();
  const listeners = new Set<Listener>();
  const behind = new Set<object>();
  let lastId = 0;
  /** Why nothing more can be sent. */
  let failure: AgentError | undefined;

  const reader = createRecordReader({
    maxLineBytes: options.maxLineBytes ?? defaultMaxLineBytes,
    validate: options.validate ?? false,
    onRecord: take,
    onError(error: ProtocolError) {
      if (options.onProtocolError) guarded(options.onProtocolError, error);
      else fail(error);
    },
  });
  const agent: AgentProcess = await launch(options, ["--mode", "rpc"], (bytes) => {
    if (!failure) reader.push(bytes);
  });
  void agent.ended.then((ended) => {
    if (!failure) reader.end();
    fail(new ExitError(ended));
  });

  function take(record: ReceivedRecord, bytes: number): void {
    if (failure) return;
    if (record.type === "response") {
      const id = record.command === "parse" && record.id === undefined ? unreadId() : record.id;
      const request = finish(id);
      if (request) {
        if (record.success) request.onData(record.data);
        else request.onError(new CommandError(request.command, String(id), record.error || "It gave no reason"));
        return;
      }
    } else if (record.type === "bash_execution_update" && record.id !== undefined) {
      const hear = pending.get(String(record.id))?.onOutput;
      if (hear) guarded(hear, record.delta);
    }
    for (const listener of [...listeners]) listener.onRecord(record, bytes);
  }

  /** The id of the command that the agent could not read. All are sent as JSON, so it is the one that was too long. */
  function unreadId(): string | undefined {
    const [longest] = [...pending].sort(([, one], [, other]) => other.size - one.size);
    return longest?.[0];
  }

  /** Takes a command off the list of those that wait. */
  function finish(id: unknown): Pending | undefined {
    const request = typeof id === "string" ? pending.get(id) : undefined;
    if (!request) return undefined;
    pending.delete(id as string);
    request.settle();
    updateReading();
    return request;
  }

  function fail(error: AgentError): void {
    if (failure) return;
    failure = error;
    for (const id of [...pending.keys()]) finish(id)?.onError(error);
    for (const listener of [...listeners]) listener.onEnd?.(error);
    listeners.clear();
    void agent.close();
  }

  function refusalOf(type: string, id: string, signal: AbortSignal | undefined): AgentError | undefined {
    if (failure) return failure;
    if (signal?.aborted) return new AbortedError(signal.reason);
    return pending.has(id) ? new CommandError(type, id, `Another command with the id ${id} still waits`) : undefined;
  }

  /** A command as its line, or why it cannot be one. */
  function lineOf(command: OutgoingCommand, id: string): string | CommandError {
    try {
      return `${JSON.stringify(command)}\n`;
    } catch (error) {
      return new CommandError(command.type, id, `It cannot be sent as JSON: ${(error as Error).message}`);
    }
  }

  function updateReading(): void {
    agent.setReading(behind.size === 0 || pending.size > 0);
  }

  return {
    pid: agent.pid,
    request(command, request) {
      const { signal, after, timeout = lasting.has(command.type) ? undefined : options.timeout } = request;
      const id = typeof command.id === "string" ? command.id : `sdk-${++lastId}`;
      const refusal = refusalOf(command.type, id, signal);
      const line = refusal ?? lineOf({ ...command, id }, id);
      if (typeof line !== "string") {
        request.onError(line);
        return () => true;
      }
      if (command.type === unanswered) {
        agent.write(line);
        request.onData(undefined);
        return () => false;
      }
      const abort = () => finish(id)?.onError(new AbortedError(signal?.reason));
      const stopTimer = startTimer(timeout, (ms) => finish(id)?.onError(new TimeoutError(command.type, id, ms)));
      const forget = onAbort(signal, abort);
      const settle = () => {
        stopTimer();
        forget();
      };
      const waiting: Pending = { ...request, command: command.type, size: line.length, settle };
      pending.set(id, waiting);
      updateReading();
      let isSent = false;
      const send = () => {
        if (pending.get(id) !== waiting) return;
        isSent = true;
        agent.write(line);
      };
      if (after) void after.then(send);
      else send();
      return () => {
        if (!isSent && pending.get(id) === waiting) finish(id);
        return !isSent;
      };
    },
    answer(response) {
      if (!failure) agent.write(`${JSON.stringify({ type: unanswered, ...response })}\n`);
    },
    listen(listener) {
      if (failure) listener.onEnd?.(failure);
      else listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    setBehind(holder, isBehind) {
      if (isBehind === behind.has(holder)) return;
      if (isBehind) behind.add(holder);
      else behind.delete(holder);
      updateReading();
    },
    async close() {
      // What runs is aborted in order; the end of its input alone would let an agent finish it.
      if (!failure) agent.write('{"type":"abort"}\n');
      fail(new ClosedError());
      await agent.close();
    },
  };
}
