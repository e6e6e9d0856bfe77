// The client: an agent's process driven over RPC mode, a method for each command.
import type { ImageContent, ThinkingLevel } from "../protocol/message.ts";
import type { ReceivedRecord } from "../protocol/record.ts";
import type { Disposition, QueueMode, RpcCommandName, RpcParams, RpcResult } from "../protocol/rpc.ts";
import type { Received } from "../protocol/unknown.ts";
import type { AgentRun } from "./agent-run.ts";
import type { Approve } from "./approvals.ts";
import type { Connection } from "./connection.ts";
import type { CallOptions, StartOptions } from "./options.ts";

/** The `data` of a command's answer as the client gets it. */
export type ReceivedResult<Name extends RpcCommandName> = Received<RpcResult<Name>>;

type Disposed = Disposition["disposition"];

/** What may come with a message. */
export interface Attachments {
  readonly images?: readonly ImageContent[] | undefined;
}

export interface PromptOptions extends CallOptions, Attachments {
  /** What becomes of the message while a run goes on; without it the agent refuses one then. */
  readonly streamingBehavior?: "steer" | "followUp" | undefined;
}

export interface BashOptions extends CallOptions {
  /** Keep the output from the model. */
  readonly excludeFromContext?: boolean | undefined;
  /** Hears the output as it comes, all of it, in pieces of any size. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/**
 * An agent as a subprocess. Every method that sends a command rejects with `CommandError` (refused), `ExitError` (the process has ended),
 * `ProtocolError` (its output is none of the protocol's), `TimeoutError`, `AbortedError` or `ClosedError`.
 */
export class AgentClient {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Starts `pi-ts --mode rpc`, or what `command` names. Rejects with `SpawnError`. */
  static async start(options: StartOptions = {}): Promise<AgentClient> {
    const { connect } = await import("./connection.ts");
    return new AgentClient(await connect(options));
  }

  /** The process's id, which is its process group's too. */
  get pid(): number {
    return this.#connection.pid;
  }

  // …
  command<Name extends RpcCommandName>(
    type: Name,
    params?: RpcParams<Name>,
    options?: CallOptions,
  ): Promise<ReceivedResult<Name>>;
  command(): never {
    throw new Error("not there yet");
  }
  raw(command: { readonly type: string } & Readonly<Record<string, unknown>>, options?: CallOptions): Promise<unknown>;
  raw(): never {
    throw new Error("not there yet");
  }
  subscribe(listener: (record: ReceivedRecord) => void): () => void;
  subscribe(): never {
    throw new Error("not there yet");
  }
  onApproval(approve: Approve): () => void;
  onApproval(): never {
    throw new Error("not there yet");
  }
  run(message: string, options?: PromptOptions): AgentRun;
  run(): never {
    throw new Error("not there yet");
  }
  close(): Promise<void>;
  close(): never {
    throw new Error("not there yet");
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  declare prompt: (message: string, options?: PromptOptions) => Promise<Disposed>;
  declare steer: (message: string, options?: CallOptions & Attachments) => Promise<Disposed>;
  declare followUp: (message: string, options?: CallOptions & Attachments) => Promise<Disposed>;
  declare bash: (command: string, options?: BashOptions) => Promise<ReceivedResult<"bash">>;
  declare abort: (options?: CallOptions) => Promise<void>;
  declare clearQueue: (options?: CallOptions) => Promise<ReceivedResult<"clear_queue">>;
  declare newSession: (options?: CallOptions & { parentSession?: string }) => Promise<ReceivedResult<"new_session">>;
  declare getState: (options?: CallOptions) => Promise<ReceivedResult<"get_state">>;
  declare getMessages: (options?: CallOptions) => Promise<ReceivedResult<"get_messages">["messages"]>;
  declare setModel: (provider: string, modelId: string, options?: CallOptions) => Promise<ReceivedResult<"set_model">>;
  declare cycleModel: (options?: CallOptions) => Promise<ReceivedResult<"cycle_model">>;
  declare getAvailableModels: (options?: CallOptions) => Promise<ReceivedResult<"get_available_models">["models"]>;
  declare setThinkingLevel: (level: ThinkingLevel, options?: CallOptions) => Promise<void>;
  declare cycleThinkingLevel: (options?: CallOptions) => Promise<ReceivedResult<"cycle_thinking_level">>;
  declare getAvailableThinkingLevels: (options?: CallOptions) => Promise<ThinkingLevel[]>;
  declare setSteeringMode: (mode: QueueMode, options?: CallOptions) => Promise<void>;
  declare setFollowUpMode: (mode: QueueMode, options?: CallOptions) => Promise<void>;
  declare compact: (options?: CallOptions & { customInstructions?: string }) => Promise<ReceivedResult<"compact">>;
  declare setAutoCompaction: (enabled: boolean, options?: CallOptions) => Promise<void>;
  declare setAutoRetry: (enabled: boolean, options?: CallOptions) => Promise<void>;
  declare abortRetry: (options?: CallOptions) => Promise<void>;
  declare abortBash: (options?: CallOptions) => Promise<void>;
  declare getSessionStats: (options?: CallOptions) => Promise<ReceivedResult<"get_session_stats">>;
  declare exportHtml: (options?: CallOptions & { outputPath?: string }) => Promise<string>;
  declare switchSession: (path: string, options?: CallOptions) => Promise<ReceivedResult<"switch_session">>;
  declare fork: (entryId: string, options?: CallOptions) => Promise<ReceivedResult<"fork">>;
  declare clone: (options?: CallOptions) => Promise<ReceivedResult<"clone">>;
  declare getForkMessages: (options?: CallOptions) => Promise<ReceivedResult<"get_fork_messages">["messages"]>;
  declare getEntries: (options?: CallOptions & { since?: string }) => Promise<ReceivedResult<"get_entries">>;
  declare getTree: (options?: CallOptions) => Promise<ReceivedResult<"get_tree">>;
  declare getLastAssistantText: (options?: CallOptions) => Promise<string | undefined>;
  declare setSessionName: (name: string, options?: CallOptions) => Promise<void>;
  declare getCommands: (options?: CallOptions) => Promise<ReceivedResult<"get_commands">["commands"]>;
}
