// The client: an agent's process driven over RPC mode, with a method for each command.
import type { ImageContent, Message, ThinkingLevel } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { ReceivedRecord } from "../protocol/record.ts";
import type { CommandInfo, Disposition, QueueMode, RpcCommandName, RpcParams, RpcResult } from "../protocol/rpc.ts";
import type { UiDialog } from "../protocol/ui.ts";
import type { OrUnknown, Received } from "../protocol/unknown.ts";
import { type AgentRun, startRun } from "./agent-run.ts";
import { type Approve, idOfStrangeQuestion, isDialog, toUiResponse } from "./approvals.ts";
import { type Connection, connect, type OutgoingCommand, type Request } from "./connection.ts";
import { ProtocolError } from "./errors.ts";
import { guarded } from "./guarded.ts";
import { onAbort } from "./on-abort.ts";
import type { CallOptions, StartOptions } from "./options.ts";

/** The `data` of a command's answer as a client gets it. */
export type ReceivedResult<Name extends RpcCommandName> = Received<RpcResult<Name>>;

/**
 * What became of a message: a run began with it (`started`), it waits for its turn in one (`queued`), or it was dealt with at once
 * (`handled`). Versions of pi before 0.99.0 do not tell; it is then taken to be queued while a run goes on, and to have started one otherwise.
 */
export type PromptDisposition = Disposition["disposition"];

/** What goes along with a message. */
export interface MessageOptions extends CallOptions {
  /** Behind the text, in this order; base64 data with their media type. */
  readonly images?: readonly ImageContent[] | undefined;
}

/** What goes along with a message that may begin a run. */
export interface PromptOptions extends MessageOptions {
  /** What becomes of the message while a run goes on: `steer` comes behind the tools of the turn, `followUp` at the end. Without it the agent refuses one then. */
  readonly streamingBehavior?: "steer" | "followUp" | undefined;
}

/** How a command of the client's own is run. */
export interface BashOptions extends CallOptions {
  /** Keep the output from the model. */
  readonly excludeFromContext?: boolean | undefined;
  /** Hears the output as it comes, all of it, in pieces of any size (pi: since 0.82.0). */
  readonly onOutput?: ((text: string) => void) | undefined;
}

const defaultMaxUnreadBytes = 1024 * 1024;

/**
 * An agent as a subprocess. Every method that sends a command rejects with `CommandError` (the agent refused it), `ExitError` (the process
 * has ended; everything that waits is told at once), `ProtocolError` (its output is none of the protocol's), `TimeoutError`, `AbortedError`
 * or `ClosedError`. What a listener throws is an uncaught error of the program's.
 */
export class AgentClient {
  readonly #connection: Connection;
  readonly #maxUnreadBytes: number;
  #approve: Approve | undefined;
  #isRunning = false;
  /** An abort on its way, by a signal; a prompt would be refused before it is done. */
  #aborting: Promise<unknown> | undefined;

  private constructor(connection: Connection, options: StartOptions) {
    this.#connection = connection;
    this.#maxUnreadBytes = options.maxUnreadBytes ?? defaultMaxUnreadBytes;
    connection.listen({ onRecord: (record) => this.#take(record) });
  }

  /**
   * Starts `pi-ts --mode rpc`, or what `command` names, in a process group of its own. Rejects with `SpawnError`. The process ends with
   * `close`, and with this program.
   */
  static async start(options: StartOptions = {}): Promise<AgentClient> {
    return new AgentClient(await connect(options), options);
  }

  /** The process's id, which is also that of its group. */
  get pid(): number {
    return this.#connection.pid;
  }

  /**
   * Ends the process and its group: an abort of what runs and the end of its input, after half a second SIGTERM, after two more SIGKILL. What waits rejects with
   * `ClosedError` at once; resolves when the process has ended. May be called again.
   */
  close(): Promise<void> {
    return this.#connection.close();
  }

  /** `close`, at the end of an `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Hears every record of the agent's that answers no command of this client: events, output of `bash`, questions, and what is of an unknown
   * type. Gives the function that ends it.
   */
  subscribe(listener: (record: ReceivedRecord) => void): () => void {
    return this.#connection.listen({ onRecord: (record) => guarded(listener, record) });
  }

  /**
   * Answers the agent's questions, such as whether a tool may run. One function at a time; another takes its place. Without one every
   * question is cancelled, which is a no; so is one of a kind that this version does not know. Gives the function that takes it away.
   */
  onApproval(approve: Approve): () => void {
    this.#approve = approve;
    return () => {
      if (this.#approve === approve) this.#approve = undefined;
    };
  }

  /**
   * Sends any command, such as one of a newer agent's, and gives the `data` of its answer. It gets an `id` where it has no text as one.
   * `extension_ui_response` has no answer: it is sent, and that is all.
   */
  raw(command: OutgoingCommand, options: CallOptions = {}): Promise<unknown> {
    return this.#send(command, options);
  }

  /** Sends a command by its name on the wire. */
  command<Name extends RpcCommandName>(
    type: Name,
    params: RpcParams<Name>,
    options: CallOptions & Pick<BashOptions, "onOutput"> = {},
  ): Promise<ReceivedResult<Name>> {
    return this.#send({ ...params, type }, options) as Promise<ReceivedResult<Name>>;
  }

  /**
   * Sends a message and gives the run that it begins or joins: an async iterable of events that ends at `agent_settled` (pi: since 0.80.4),
   * with `text()`, `messages()`, `usage()` and `outcome()`. `signal` also ends the run in the agent.
   *
   * Events wait for a slow loop up to `maxUnreadBytes`. Beyond that stdout is not read, so that the agent waits, except while another command
   * of this client waits for its answer; the events that lie before it are then kept, up to 64 times as much, and a loop that is still slower
   * gets an `OverflowError`. A run that is neither iterated nor awaited waits in the same way: for a message whose run is of no interest, use
   * `prompt`.
   */
  run(message: string, options: PromptOptions = {}): AgentRun {
    const { signal, timeout, ...params } = options;
    const otherwise = this.#likelyDisposition();
    return startRun({
      connection: this.#connection,
      command: { ...params, type: "prompt", message },
      call: { signal, timeout },
      toDisposition: (data) => dispositionOf(data, otherwise),
      abort: () => this.#abortNow(),
      ready: this.#aborting,
      maxUnreadBytes: this.#maxUnreadBytes,
    });
  }

  /** Sends a message; what comes of it is told by events. An empty one is refused. */
  async prompt(message: string, options: PromptOptions = {}): Promise<PromptDisposition> {
    const { signal, timeout, ...params } = options;
    const otherwise = this.#likelyDisposition();
    const call = { signal, timeout, after: this.#aborting };
    return dispositionOf(await this.#send({ ...params, type: "prompt", message }, call), otherwise);
  }

  /** Puts a message behind the tools of the running turn. */
  async steer(message: string, options: MessageOptions = {}): Promise<PromptDisposition> {
    const { signal, timeout, ...params } = options;
    return dispositionOf(await this.#send({ ...params, type: "steer", message }, { signal, timeout }), "queued");
  }

  /** Puts a message behind the running prompt. */
  async followUp(message: string, options: MessageOptions = {}): Promise<PromptDisposition> {
    const { signal, timeout, ...params } = options;
    return dispositionOf(await this.#send({ ...params, type: "follow_up", message }, { signal, timeout }), "queued");
  }

  /** Ends the running prompt with its tools, and commands of `bash`; resolves when all that has ended. */
  abort(options?: CallOptions): Promise<void> {
    return this.command("abort", {}, options);
  }

  /** Empties the queue and gives what was in it (pi: since 0.84.4). */
  clearQueue(options?: CallOptions): Promise<ReceivedResult<"clear_queue">> {
    return this.command("clear_queue", {}, options);
  }

  /** Begins another session; what runs in this one ends. `cancelled` is for pi's extensions. */
  newSession(
    options: CallOptions & { readonly parentSession?: string | undefined } = {},
  ): Promise<ReceivedResult<"new_session">> {
    const { parentSession, ...call } = options;
    return this.command("new_session", parentSession === undefined ? {} : { parentSession }, call);
  }

  /** The session and the settings in force: model, thinking level, what goes on, how many messages there are. */
  getState(options?: CallOptions): Promise<ReceivedResult<"get_state">> {
    return this.command("get_state", {}, options);
  }

  /** The conversation as the model sees it. */
  async getMessages(options?: CallOptions): Promise<OrUnknown<Message>[]> {
    return listIn(await this.command("get_messages", {}, options), "messages");
  }

  /** Gives the model that is now in use. */
  setModel(provider: string, modelId: string, options?: CallOptions): Promise<ReceivedResult<"set_model">> {
    return this.command("set_model", { provider, modelId }, options);
  }

  /** Goes to the next model of those to change between; null when there is no other. */
  cycleModel(options?: CallOptions): Promise<ReceivedResult<"cycle_model">> {
    return this.command("cycle_model", {}, options);
  }

  /** The models of providers that can be asked. */
  async getAvailableModels(options?: CallOptions): Promise<Received<Model>[]> {
    return listIn(await this.command("get_available_models", {}, options), "models");
  }

  /** How hard the model is to think from its next request on; a level that it does not tell apart becomes the nearest that it does. */
  setThinkingLevel(level: ThinkingLevel, options?: CallOptions): Promise<void> {
    return this.command("set_thinking_level", { level }, options);
  }

  /** Goes to the next level that the model tells apart; null when there is no other. */
  cycleThinkingLevel(options?: CallOptions): Promise<ReceivedResult<"cycle_thinking_level">> {
    return this.command("cycle_thinking_level", {}, options);
  }

  /** The levels that the model tells apart (pi: since 0.81.0). */
  async getAvailableThinkingLevels(options?: CallOptions): Promise<ThinkingLevel[]> {
    return listIn(await this.command("get_available_thinking_levels", {}, options), "levels");
  }

  /** How many queued steering messages come at once. */
  setSteeringMode(mode: QueueMode, options?: CallOptions): Promise<void> {
    return this.command("set_steering_mode", { mode }, options);
  }

  /** How many queued follow-up messages come at once. */
  setFollowUpMode(mode: QueueMode, options?: CallOptions): Promise<void> {
    return this.command("set_follow_up_mode", { mode }, options);
  }

  /** Summarizes the older part of the conversation; answered when that is done. */
  compact(
    options: CallOptions & { readonly customInstructions?: string | undefined } = {},
  ): Promise<ReceivedResult<"compact">> {
    const { customInstructions, ...call } = options;
    return this.command("compact", customInstructions === undefined ? {} : { customInstructions }, call);
  }

  /** Whether a conversation that no longer fits the model's context is compacted without being asked. */
  setAutoCompaction(enabled: boolean, options?: CallOptions): Promise<void> {
    return this.command("set_auto_compaction", { enabled }, options);
  }

  /** Whether a request that failed for a passing reason is sent again. */
  setAutoRetry(enabled: boolean, options?: CallOptions): Promise<void> {
    return this.command("set_auto_retry", { enabled }, options);
  }

  /** Gives up waiting for a retry. */
  abortRetry(options?: CallOptions): Promise<void> {
    return this.command("abort_retry", {}, options);
  }

  /** Runs a command of the client's own, whose output the model sees with the next prompt; answered when it has ended. `signal` ends it. */
  bash(command: string, options: BashOptions = {}): Promise<ReceivedResult<"bash">> {
    const { excludeFromContext, ...call } = options;
    const answered = this.command(
      "bash",
      { command, ...(excludeFromContext === undefined ? {} : { excludeFromContext }) },
      call,
    );
    const forget = onAbort(call.signal, () => void this.abortBash().catch(() => {}));
    return answered.finally(forget);
  }

  /** Ends the commands of `bash`. */
  abortBash(options?: CallOptions): Promise<void> {
    return this.command("abort_bash", {}, options);
  }

  /** How many messages and tool calls there are; tokens and US dollars of the whole session. */
  getSessionStats(options?: CallOptions): Promise<ReceivedResult<"get_session_stats">> {
    return this.command("get_session_stats", {}, options);
  }

  /** Writes the conversation as a page and gives its path. */
  async exportHtml(options: CallOptions & { readonly outputPath?: string | undefined } = {}): Promise<string> {
    const { outputPath, ...call } = options;
    return (await this.command("export_html", outputPath === undefined ? {} : { outputPath }, call)).path;
  }

  /** Goes on in the session of a file; what runs in this one ends. */
  switchSession(sessionPath: string, options?: CallOptions): Promise<ReceivedResult<"switch_session">> {
    return this.command("switch_session", { sessionPath }, options);
  }

  /** Goes on in a copy that ends before a message of the user's, and gives its text; see `getForkMessages`. */
  fork(entryId: string, options?: CallOptions): Promise<ReceivedResult<"fork">> {
    return this.command("fork", { entryId }, options);
  }

  /** Goes on in a copy of the branch in use. */
  clone(options?: CallOptions): Promise<ReceivedResult<"clone">> {
    return this.command("clone", {}, options);
  }

  /** The user's messages, each with the entry it is in. */
  async getForkMessages(options?: CallOptions): Promise<ReceivedResult<"get_fork_messages">["messages"]> {
    return listIn(await this.command("get_fork_messages", {}, options), "messages");
  }

  /** The session's entries in the order they were written, or those behind the entry `since` (pi: since 0.80.3). */
  getEntries(
    options: CallOptions & { readonly since?: string | undefined } = {},
  ): Promise<ReceivedResult<"get_entries">> {
    const { since, ...call } = options;
    return this.command("get_entries", since === undefined ? {} : { since }, call);
  }

  /** The session's entries as the tree that they are (pi: since 0.80.3). */
  getTree(options?: CallOptions): Promise<ReceivedResult<"get_tree">> {
    return this.command("get_tree", {}, options);
  }

  /** Undefined where there is none yet, or the last one is empty. */
  async getLastAssistantText(options?: CallOptions): Promise<string | undefined> {
    return (await this.command("get_last_assistant_text", {}, options))?.text ?? undefined;
  }

  /** Names the session, as lists of sessions show it; an empty name is refused. */
  setSessionName(name: string, options?: CallOptions): Promise<void> {
    return this.command("set_session_name", { name }, options);
  }

  /** What a message can expand: prompt templates and skills, and commands of pi's extensions. */
  async getCommands(options?: CallOptions): Promise<Received<CommandInfo>[]> {
    return listIn(await this.command("get_commands", {}, options), "commands");
  }

  /** What becomes of a prompt, as far as the client knows; it waits for an abort that is on its way. */
  #likelyDisposition(): PromptDisposition {
    return this.#isRunning && !this.#aborting ? "queued" : "started";
  }

  #send(command: OutgoingCommand, options: Omit<Request, "onData" | "onError">): Promise<unknown> {
    return new Promise((onData, onError) => this.#connection.request(command, { ...options, onData, onError }));
  }

  #take(record: ReceivedRecord): void {
    if (record.type === "agent_start") this.#isRunning = true;
    else if (record.type === "agent_settled") this.#isRunning = false;
    else if (isDialog(record)) void this.#answer(record);
    else {
      const id = idOfStrangeQuestion(record);
      if (id !== undefined) this.#connection.answer({ id, cancelled: true });
    }
  }

  async #answer(request: Received<UiDialog>): Promise<void> {
    let answer: boolean | string | undefined;
    try {
      answer = await this.#approve?.(request);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
    this.#connection.answer(toUiResponse(request, answer));
  }

  #abortNow(): void {
    const aborting = this.abort()
      .catch(() => {})
      .finally(() => {
        if (this.#aborting === aborting) this.#aborting = undefined;
      });
    this.#aborting = aborting;
  }
}

function dispositionOf(data: unknown, otherwise: PromptDisposition): PromptDisposition {
  return (data as Disposition | undefined)?.disposition ?? otherwise;
}

/** A list in the `data` of an answer, from which the methods take it without checking the whole. */
function listIn<Field extends string, List>(data: { readonly [Key in Field]: List }, field: Field): List {
  const list: unknown = (data as Partial<typeof data> | null | undefined)?.[field];
  if (Array.isArray(list)) return list as List;
  throw new ProtocolError(`An answer has no list of '${field}'`, JSON.stringify(data) ?? "");
}
