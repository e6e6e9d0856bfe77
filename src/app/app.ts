// The app as every mode drives it: provider, tools, gate and conversation as one object. What makes it stands in create-app.ts.
import type { LoopOutcome, Review } from "../agent/loop.ts";
import type { MessageQueue } from "../agent/queue.ts";
import type { Config } from "../config/config.ts";
import type { Ask } from "../permission/gate.ts";
import type { AgentEvent, CompactionResult } from "../protocol/event.ts";
import type { ImageContent, Message, ThinkingLevel } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { BashResult, CommandInfo } from "../protocol/rpc.ts";
import type { Provider } from "../providers/provider.ts";
import type { Session } from "../session/session.ts";
import type { Environment } from "../util/environment.ts";
import type { ContextUsage } from "./context.ts";
import type { Mcp } from "./mcp.ts";
import type { LoadedModel, ModelChoice } from "./model-choice.ts";
import type { Permissions } from "./permissions.ts";
import type { Resources } from "./resources.ts";
import type { Sessions } from "./sessions.ts";
import type { RunProgress, UsageReport } from "./usage.ts";
import type { UserCommandOptions } from "./user-commands.ts";

export type { LoopOutcome } from "../agent/loop.ts";
export type { QueueKind } from "../agent/queue.ts";
export type { RunProgress, UsageReport } from "./usage.ts";

export interface AppOptions {
  readonly config: Config;
  readonly permissions: Permissions;
  readonly provider: Provider;
  /** Kept in memory alone if not given. */
  readonly session?: Session;
  /** Where `clear` and the commands about sessions find and make others; without it new ones are kept in memory. */
  readonly sessions?: Sessions;
  /** The working directory at start, absolute. */
  readonly cwd: string;
  /** The models that `setModel` can change to; without it there is only the one. */
  readonly models?: ModelChoice;
  /** What `/name` and `/skill:name` stand for; nothing if not given. */
  readonly resources?: Resources;
  /** The servers whose tools and prompts count too. Whoever made them ends them. */
  readonly mcp?: Mcp | undefined;
  /** The models that take over, in this order, when the one before fails for good for a reason that would pass. */
  readonly fallbacks?: readonly LoadedModel[] | undefined;
  /** Judges an answer that would be the last of a prompt. */
  readonly review?: ((answer: string) => Review) | undefined;
  /** A prompt of which a call was denied has not ended well. */
  readonly failOnDenied?: boolean | undefined;
  /** When the time of the one prompt there is runs out, in milliseconds from the start of the program; without it each has its time limit from its start on. */
  readonly deadline?: number | undefined;
  /** Awaited before each turn: resolves when the observers have caught up. */
  readonly ready?: () => Promise<unknown>;
  /** The process's environment; children get it without the provider keys. */
  readonly env: Environment;
  /** Who answers when the gate asks. */
  readonly ask: Ask;
  /** Told of failures that are bugs of ours. */
  readonly onBug: (error: unknown) => void;
  /** Tells the user something that is no part of the conversation, such as a detour that a provider asked for. */
  readonly notify: (text: string) => void;
}

/** What runs now. A command of the user's own is none of these. */
export type Activity = "idle" | "prompt" | "compaction";

export interface CycledModel {
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel;
  readonly isScoped: boolean;
}

export interface App {
  /** The configuration in force; model and switches can change. */
  readonly config: Config;
  /** The other sessions that there are; undefined for an app that only knows its own. */
  readonly sessions: Sessions | undefined;
  /** The session that is written to; its id is in the environment of children. */
  session(): Session;
  /** The conversation at its leaf, as the next request is made of it. */
  messages(): readonly Message[];
  /** The whole system prompt as text. */
  readonly systemPrompt: string;
  /** What waits for its turn while a prompt runs; the next prompt takes along what an abort left. */
  readonly queue: MessageQueue;
  activity(): Activity;
  /** Also true while a prompt waits for the compaction that makes room for it. */
  isCompacting(): boolean;
  /** The MCP servers that are still starting, for which the next prompt waits. */
  startingServers(): readonly string[];
  /** Resolves when nothing runs any more, commands of the user's included. */
  idle(): Promise<void>;
  /** Runs one prompt to its end; rejects only when something is running already, the text is blank or the session cannot be written. */
  prompt(text: string, images?: readonly ImageContent[]): Promise<LoopOutcome>;
  /** The same for what waits in the queue. */
  promptQueue(): Promise<LoopOutcome>;
  /** Puts a summary in the place of the conversation's older part. Rejects with `AppError`, also when there is nothing to compact or while something runs. */
  compact(wishes?: string): Promise<CompactionResult>;
  /**
   * Ends the running prompt or compaction at once: its request, every tool it started, and commands of the user's. The queue stays.
   * Resolves when all that has ended.
   */
  abort(): Promise<void>;
  /** How often that was called, so that who waits for what runs can tell whether it was left to end by itself. */
  aborts(): number;
  /** Gives up the repetition that is being waited for. */
  abortRetry(): void;
  /** Runs a command of the user's own; it is recorded at once, or behind the prompt that is running. Rejects when it cannot be started. */
  bash(command: string, options: UserCommandOptions): Promise<BashResult>;
  abortBash(): void;
  models(): Promise<readonly Model[]>;
  /** Changes to the next of the models to change between; null when there is no other. */
  cycleModel(): Promise<CycledModel | null>;
  /** For the requests of the next prompt on. Throws `AppError` for one that is not known or cannot be reached. */
  setModel(provider: string, modelId: string): Promise<Model>;
  /** The level in force; `off` also where it is left to the model. */
  thinkingLevel(): ThinkingLevel;
  /** The nearest level that the model knows, for the requests of the next prompt on. */
  setThinkingLevel(level: ThinkingLevel): void;
  /** Puts the model and thinking level that the session was on in force, as far as they can be had. */
  adoptSettings(): Promise<void>;
  /** Whether a conversation that no longer fits is compacted, and a request that failed is sent again. */
  setAuto(what: Partial<Pick<Config, "autoCompact"> & { readonly autoRetry: boolean }>): void;
  /** What is said with `/name arguments` or `/skill:name arguments`; any other text is itself. */
  expand(text: string): Promise<string>;
  /** Whether `expand` has another text for this one. */
  knows(text: string): Promise<boolean>;
  /** The file of the project's own that `expand` would use if the project were trusted. */
  heldBack(text: string): Promise<string | undefined>;
  /** What `expand` knows. */
  commands(): Promise<CommandInfo[]>;
  /** Names the session. */
  rename(name: string): void;
  /** Calls `listener` with every event from now on; the result ends that. */
  subscribe(listener: (event: AgentEvent) => void): () => void;
  /** Goes on in another session; the one before is closed. Rejected while a prompt is running. */
  useSession(session: Session): void;
  /** Goes on from another entry of the session; null: from before the first. Rejected while a prompt is running. */
  moveTo(entryId: string | null): void;
  /** Goes on in a new, empty session; the system prompt stays. */
  clear(): void;
  /** Closes the session. */
  close(): void;
  usage(): UsageReport;
  progress(): RunProgress;
  contextUsage(): ContextUsage;
}
