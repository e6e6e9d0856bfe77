// The app: provider, tools, gate and conversation wired into one object that every mode drives.
import { timeLimit } from "../agent/limits.ts";
import { type LoopInput, type LoopOutcome, type LoopTarget, type Review, runLoop } from "../agent/loop.ts";
import { createQueue, type MessageQueue, userMessage } from "../agent/queue.ts";
import { createRoom } from "../agent/room.ts";
import { promptText } from "../agent/text.ts";
import type { Config, Environment } from "../config/config.ts";
import type { Ask } from "../permission/gate.ts";
import { createGate } from "../permission/policy.ts";
import type { EntryDraft } from "../protocol/entry.ts";
import type { AgentEvent, CompactionResult, DeniedCall, RunError } from "../protocol/event.ts";
import type { ImageContent, Message, ThinkingLevel, UserMessage } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { CommandInfo } from "../protocol/rpc.ts";
import { currentSystem } from "../protocol/tree.ts";
import { addUsage } from "../protocol/usage.ts";
import type { Provider } from "../providers/provider.ts";
import { nearestLevel } from "../providers/thinking-level.ts";
import { createConversation } from "../session/conversation.ts";
import type { Session } from "../session/session.ts";
import { createMemorySession } from "../session/store.ts";
import { createFileMemory, type FileMemory } from "../tools/file-memory.ts";
import { childEnvironment } from "../util/child-env.ts";
import { AppError, toAppError } from "../util/error.ts";
import { plural } from "../util/plural.ts";
import { type ContextUsage, createContextWarning, describeContext, failedCompactions } from "./context.ts";
import type { Mcp } from "./mcp.ts";
import { isSame, type LoadedModel, type ModelChoice, thinkingLevelOf, thinkingLevelsOf } from "./model-choice.ts";
import { type Permissions, withServerTools } from "./permissions.ts";
import type { Resources } from "./resources.ts";
import type { BashResult } from "./run-bash.ts";
import type { Sessions } from "./sessions.ts";
import { buildSystemMessage, systemChange } from "./system-prompt.ts";
import { createTally, isUsage, type RunProgress, type UsageReport, usageOf } from "./usage.ts";
import { createUserCommands, type UserCommandOptions } from "./user-commands.ts";

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
  /** When the time of the one prompt there is runs out, on the clock of `performance.now()`; without it each has its time limit from its start on. */
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

/** After this time the user is told which servers a prompt waits for. */
const serverNoticeMs = 3000;

export function createApp(options: AppOptions): App {
  const { cwd, env, permissions, mcp } = options;
  let { config, provider } = options;
  const { sandbox } = permissions;
  let { tools } = permissions;
  const gate = createGate(permissions.policy, options.ask);
  const { contextFiles, systemPrompt } = config;
  const startedAt = new Date();
  /** What servers say of themselves. */
  let instructions: string | undefined;
  const makeSystem = () =>
    buildSystemMessage({
      cwd,
      tools: tools.specs,
      contextFiles,
      systemPrompt,
      skills: options.resources?.prompt,
      servers: instructions,
      now: startedAt,
    });
  let system = makeSystem();
  const newSession = () => options.sessions?.create() ?? createMemorySession(cwd);
  let session = options.session ?? newSession();
  let conversation = createConversation(session);
  /** What tools run in, for the session and configuration in force now. */
  function createEnvironment(files: FileMemory) {
    const { keyVariables, envPass: pass, maxToolOutput: maxOutput, model, provider: configured } = config;
    const keys = { keyVariables, keys: [configured.apiKey], pass, sessionId: session.id };
    let made: ReturnType<typeof childEnvironment> | undefined;
    return {
      cwd,
      /** Made for the first tool: looking through every variable takes longer than many a start. */
      get env() {
        made ??= childEnvironment(env, keys);
        return made;
      },
      maxOutput,
      files,
      acceptsImages: model.input.includes("image"),
      get tools() {
        return tools;
      },
      gate,
      deniesPath: permissions.policy.rules?.deniesPath,
      sandbox,
      realPath: async (path: string, verb: "read" | "write") =>
        (await import("../tools/regular-file.ts")).realPath(cwd, path, verb),
      onBug: options.onBug,
    };
  }
  let environment = createEnvironment(createFileMemory());
  const listeners = new Set<(event: AgentEvent) => void>();
  let running: AbortController | undefined;
  let activity: Activity = "idle";
  let compacting = false;
  let retryWait = new AbortController();
  let autoRetry = true;
  /** Ends the wait for servers of a prompt that is only being looked up. */
  let lookUp = new AbortController();
  const work = new Set<Promise<unknown>>();
  const userCommands = createUserCommands({
    environment: () => environment,
    isBusy: () => running !== undefined,
    add: (message) => conversation.add(message),
  });
  const queue = createQueue((state) => emit({ type: "queue_update", ...state }));
  let { last, total } = usageOf(session);
  const tally = createTally();
  const fallbacks = [...(options.fallbacks ?? [])];
  let settled = false;

  const contextWarning = createContextWarning(config, options.notify);

  function contextUsage(): ContextUsage {
    const messages = conversation.messages();
    return describeContext({ model: config.model, system: promptText(system), tools: tools.specs, messages });
  }

  /** What a compaction needs of this conversation and its model. */
  function compactionParts(signal: AbortSignal) {
    const { model, maxTokens, maxRetries, thinkingLevel } = config;
    const { notify } = options;
    const store = {
      messages: () => conversation.messages(),
      entryOf(message: Message) {
        const id = conversation.entryIdOf(message);
        return session.entries().findLast((entry) => entry.id === id);
      },
      append(draft: EntryDraft) {
        const entry = session.append(draft);
        if (isUsage(entry.usage)) {
          total = addUsage(total, entry.usage);
          tally.add(entry.usage, config.isPriceKnown);
        }
        return entry;
      },
      reload: () => conversation.reload(),
    };
    return { provider, model, system, store, maxTokens, maxRetries, thinkingLevel, signal, notify, emit };
  }

  /** Waits for the servers, puts the tools they have by now in force, and tells what is to be told of them. Rejects when one that is required is not there. */
  async function takeServerTools(signal: AbortSignal): Promise<void> {
    if (!mcp) return;
    const notice = setTimeout(() => {
      const names = mcp.pending().join(", ");
      if (names !== "") options.notify(`Waiting for MCP servers to start: ${names}`);
    }, serverNoticeMs);
    try {
      await mcp.ready(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearTimeout(notice);
      for (const text of mcp.takeNotices()) options.notify(text);
    }
    const next = withServerTools(permissions, mcp.tools());
    const isSame = JSON.stringify(next.specs) === JSON.stringify(tools.specs);
    // What is the same to the model stays so to the byte, whatever process is behind it.
    tools = isSame ? { specs: tools.specs, load: next.load } : next;
    const says = mcp.instructions();
    if (isSame && says === instructions) return;
    instructions = says;
    system = makeSystem();
  }

  function useSession(next: Session): void {
    if (running) throw busy(activity);
    if (next !== session) session.close();
    // One that only moved into a file is the same conversation still.
    const files = next.id === session.id ? environment.files : createFileMemory();
    session = next;
    conversation = createConversation(session);
    environment = createEnvironment(files);
    ({ last, total } = usageOf(session));
    contextWarning.reset();
    settled = false;
    if (!session.stored()) declareSettings();
  }

  /**
   * The model and thinking level in force, where the branch was on others: at the beginning of a new session, and before the first prompt
   * of one that goes on. A level that is left to the model is none; a model that does not think is `off`.
   */
  function declareSettings(): void {
    if (settled) return;
    settled = true;
    const { provider: name, id } = config.model;
    const { model, thinkingLevel } = conversation.settings();
    if (model?.provider !== name || model.modelId !== id) {
      session.append({ type: "model_change", provider: name, modelId: id });
    }
    const level = config.model.reasoning ? config.thinkingLevel : "off";
    if (level !== undefined && level !== thinkingLevel) {
      session.append({ type: "thinking_level_change", thinkingLevel: level });
    }
  }

  if (!session.stored()) declareSettings();

  /** Puts other settings in force: at once, or for what comes after the running prompt. */
  function configure(changes: Partial<Config>): void {
    const before = thinkingLevelOf(config);
    config = Object.freeze({ ...config, ...changes });
    environment = createEnvironment(environment.files);
    settled = false;
    if (!running) declareSettings();
    const level = thinkingLevelOf(config);
    if (level !== before) emit({ type: "thinking_level_changed", level });
  }

  function track<Value>(promise: Promise<Value>): Promise<Value> {
    const done = promise.catch(() => {}).finally(() => work.delete(done));
    work.add(done);
    return promise;
  }

  async function idle(): Promise<void> {
    while (work.size > 0) await Promise.all(work);
  }

  async function abort(): Promise<void> {
    running?.abort();
    lookUp.abort();
    lookUp = new AbortController();
    userCommands.abort();
    await Promise.all(work);
  }

  /** Who is asked from now on, as far as a running prompt is concerned. */
  function createTarget(signal: AbortSignal): LoopTarget {
    const { model, maxTokens, temperature, thinkingLevel } = config;
    const room = createRoom({
      ...compactionParts(signal),
      get system() {
        return system;
      },
      get auto() {
        return config.autoCompact;
      },
      failures: () => failedCompactions(session),
    });
    return { provider, model, environment, maxTokens, temperature, thinkingLevel, room };
  }

  function loopInput(prompt: UserMessage | undefined, signal: AbortSignal): LoopInput {
    const { maxTurns, maxToolCalls, maxCost } = config;
    return {
      ...createTarget(signal),
      get system() {
        return system;
      },
      announceSystem: currentSystem(conversation.messages()) === undefined,
      async changeSystem() {
        await takeServerTools(signal);
        const told = currentSystem(conversation.messages());
        return told && systemChange(told, system);
      },
      conversation,
      prompt,
      queue,
      maxTurns,
      maxToolCalls,
      maxCost,
      spent: () => tally.progress().usage.cost.total,
      get maxRetries() {
        return autoRetry ? config.maxRetries : 0;
      },
      fallback: ({ message }, failed) => fallBack(message, failed, signal),
      review: options.review,
      notify: options.notify,
      ready: options.ready,
      signal,
      retrySignal() {
        retryWait = new AbortController();
        return retryWait.signal;
      },
      emit,
    };
  }

  /** The next model takes over, in this prompt and in those to come. */
  function fallBack(errorMessage: string, failed: Model, signal: AbortSignal) {
    const next = fallbacks.shift();
    if (!next) return undefined;
    const name = ({ provider, id: modelId }: Model) => ({ provider, modelId });
    ({ provider } = next);
    const { thinkingLevel, autoCompact } = config;
    configure({ ...next.config, thinkingLevel, autoCompact });
    return {
      target: createTarget(signal),
      announce() {
        declareSettings();
        emit({ type: "model_fallback", from: name(failed), to: name(next.config.model), errorMessage });
      },
    };
  }

  /** One prompt, and what waits in the queue when it failed; to `agent_settled`. */
  async function run(prompt: UserMessage | undefined): Promise<LoopOutcome> {
    if (running) throw busy(activity);
    const controller = new AbortController();
    running = controller;
    activity = "prompt";
    tally.restart();
    const { timeoutMs } = config;
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeLeft(timeoutMs));
    function expire(): void {
      controller.abort(timeLimit(timeoutMs ?? 0));
    }
    const deniedCalls: DeniedCall[] = [];
    let outcome: LoopOutcome | undefined;
    let failure: AppError | undefined;
    try {
      declareSettings();
      await takeServerTools(running.signal);
      for (let next = prompt; ; next = undefined) {
        outcome = await runLoop(loopInput(next, controller.signal));
        deniedCalls.push(...outcome.denied);
        if (controller.signal.aborted || queue.size() === 0) break;
      }
      outcome = { ...outcome, denied: deniedCalls };
      if (options.failOnDenied && outcome.status === "done" && deniedCalls.length > 0) {
        outcome = { ...outcome, status: "error", error: deniedError(deniedCalls.length) };
      }
      failure = outcome.error;
      return outcome;
    } catch (thrown) {
      failure = toAppError(thrown);
      throw thrown;
    } finally {
      clearTimeout(timer);
      running = undefined;
      activity = "idle";
      const aborted = outcome?.status === "aborted";
      emit({
        type: "agent_settled",
        aborted,
        ...(deniedCalls.length > 0 ? { deniedCalls } : {}),
        ...(failure && !aborted ? { error: describeFailure(failure) } : {}),
      });
      userCommands.record();
    }
  }

  function timeLeft(timeoutMs: number): number {
    return options.deadline === undefined ? timeoutMs : Math.max(0, options.deadline - performance.now());
  }

  async function compact(wishes: string | undefined): Promise<CompactionResult> {
    if (running) throw busy(activity);
    running = new AbortController();
    activity = "compaction";
    try {
      const { compact } = await import("../agent/compact.ts");
      const { result, error } = await compact({ ...compactionParts(running.signal), reason: "manual", wishes });
      if (error) throw error;
      return result;
    } finally {
      running = undefined;
      activity = "idle";
      userCommands.record();
    }
  }

  async function setModel(name: string, modelId: string): Promise<Model> {
    const loaded = await options.models?.load(name, modelId, config.model);
    if (!loaded) throw new AppError("usage", `Model not found: ${name}/${modelId}`);
    provider = loaded.provider;
    const { thinkingLevel, autoCompact } = config;
    configure({ ...loaded.config, thinkingLevel, autoCompact });
    return config.model;
  }

  function setThinkingLevel(level: ThinkingLevel): void {
    if (config.model.reasoning) configure({ thinkingLevel: nearestLevel(level, thinkingLevelsOf(config.model)) });
  }

  function emit(event: AgentEvent): void {
    if (event.type === "compaction_start") compacting = true;
    else if (event.type === "compaction_end") compacting = false;
    const used = tally.follow(event, config.isPriceKnown);
    if (used) {
      last = used;
      total = addUsage(total, used);
    }
    for (const listener of listeners) listener(event);
    const isAnswer = event.type === "message_end" && event.message.role === "assistant";
    if (isAnswer || event.type === "compaction_end") contextWarning.check(contextUsage());
  }

  return {
    get config() {
      return config;
    },
    sessions: options.sessions,
    session: () => session,
    messages: () => conversation.messages(),
    get systemPrompt() {
      return promptText(system);
    },
    queue,
    activity: () => activity,
    isCompacting: () => compacting || activity === "compaction",
    startingServers: () => mcp?.pending() ?? [],
    idle,
    async prompt(text, images) {
      if (text.trim() === "" && !images?.length) throw new AppError("usage", "The task is empty");
      return track(run(userMessage(text, images)));
    },
    promptQueue: async () => track(run(undefined)),
    compact: async (wishes) => track(compact(wishes)),
    abort,
    abortRetry: () => retryWait.abort(),
    bash: async (command, commandOptions) => track(userCommands.run(command, commandOptions)),
    abortBash: userCommands.abort,
    models: async () => (await options.models?.list(config.model)) ?? [config.model],
    setModel,
    async cycleModel() {
      const next = await options.models?.next(config.model);
      if (!next) return null;
      const model = await setModel(next.provider, next.id);
      if (next.thinkingLevel !== undefined) setThinkingLevel(next.thinkingLevel);
      return { model, thinkingLevel: thinkingLevelOf(config), isScoped: next.isScoped };
    },
    async adoptSettings() {
      const { model, thinkingLevel } = conversation.settings();
      try {
        if (model && !isSame({ provider: model.provider, id: model.modelId }, config.model)) {
          await setModel(model.provider, model.modelId);
        }
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        options.notify(`The session was on ${model?.provider}/${model?.modelId}: ${error.message}`);
      }
      if (thinkingLevel !== undefined) setThinkingLevel(thinkingLevel);
    },
    async expand(text) {
      const said = mcp && (await (await import("./server-prompts.ts")).expandServerPrompt(text, mcp, lookUp.signal));
      return said ?? (await options.resources?.expand(text)) ?? text;
    },
    async knows(text) {
      if (mcp && (await import("./server-prompts.ts")).isServerPrompt(text, mcp)) return true;
      return (await options.resources?.knows(text)) ?? false;
    },
    async commands() {
      const own = (await options.resources?.commands()) ?? [];
      return mcp ? [...own, ...(await import("./server-prompts.ts")).serverCommands(mcp)] : own;
    },
    thinkingLevel: () => thinkingLevelOf(config),
    setThinkingLevel,
    setAuto({ autoCompact, autoRetry: retries }) {
      if (retries !== undefined) autoRetry = retries;
      if (autoCompact !== undefined) config = Object.freeze({ ...config, autoCompact });
    },
    rename(name) {
      session.append({ type: "session_info", name });
      emit({ type: "session_info_changed", name });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    useSession,
    moveTo(entryId) {
      if (running) throw busy(activity);
      session.moveTo(entryId);
      conversation.reload();
      settled = false;
    },
    clear: () => useSession(newSession()),
    close: () => session.close(),
    usage: () => ({ last, total }),
    progress: tally.progress,
    contextUsage,
  };
}

function busy(activity: Activity): AppError {
  return new AppError("usage", `A ${activity} is running already`, { hint: "Wait for it or abort it." });
}

function deniedError(count: number): AppError {
  return new AppError("denied", `${plural(count, "call")} ${count === 1 ? "was" : "were"} denied (--fail-on-denied)`, {
    hint: "Allow what is needed with --allow.",
  });
}

function describeFailure({ code, message, hint }: AppError): RunError {
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}
