// Wires provider, tools, gate and conversation into one app.
import { timeLimit } from "../agent/limits.ts";
import { type LoopInput, type LoopOutcome, type LoopTarget, runLoop } from "../agent/loop.ts";
import { createQueue, userMessage } from "../agent/queue.ts";
import { createRoom } from "../agent/room.ts";
import { promptText } from "../agent/text.ts";
import type { Config } from "../config/config.ts";
import { createGate } from "../permission/policy.ts";
import type { EntryDraft } from "../protocol/entry.ts";
import type { AgentEvent, CompactionResult } from "../protocol/event.ts";
import type { Message, ThinkingLevel, UserMessage } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { DeniedCall, RunError } from "../protocol/outcome.ts";
import { currentSystem } from "../protocol/tree.ts";
import { addUsage } from "../protocol/usage.ts";
import { nearestLevel } from "../providers/thinking-level.ts";
import { createConversation } from "../session/conversation.ts";
import type { Session } from "../session/session.ts";
import { createMemorySession } from "../session/store.ts";
import { createFileMemory, type FileMemory } from "../tools/file-memory.ts";
import { childEnvironment } from "../util/child-env.ts";
import { now } from "../util/clock.ts";
import { AppError, toAppError } from "../util/error.ts";
import { lazy } from "../util/lazy.ts";
import { plural } from "../util/plural.ts";
import type { Activity, App, AppOptions } from "./app.ts";
import { type ContextUsage, createContextWarning, describeContext, failedCompactions } from "./context.ts";
import { isSame, thinkingLevelOf, thinkingLevelsOf } from "./model-choice.ts";
import { createOffer } from "./offer.ts";
import { systemChange } from "./system-prompt.ts";
import { createTally, isUsage, usageOf } from "./usage.ts";
import { createUserCommands } from "./user-commands.ts";

export function createApp(options: AppOptions): App {
  const { cwd, env, permissions, mcp } = options;
  let { config, provider } = options;
  const { sandbox } = permissions;
  let gate = createGate(permissions.policy, options.ask);
  const offer = createOffer({
    cwd,
    config,
    permissions,
    skills: options.resources?.prompt,
    mcp,
    notify: options.notify,
  });
  const newSession = () => options.sessions?.create() ?? createMemorySession(cwd);
  let session = options.session ?? newSession();
  let conversation = createConversation(session);
  /** What tools run in, for the session and configuration in force now. */
  function createEnvironment(files: FileMemory) {
    const { keyVariables, envPass: pass, maxToolOutput: maxOutput, model, provider: configured } = config;
    const keys = { keyVariables, keys: [configured.apiKey], pass, sessionId: session.id };
    /** Made for the first tool: looking through every variable takes longer than many a start. */
    const ownEnv = lazy(() => childEnvironment(env, keys));
    return {
      cwd,
      get env() {
        return ownEnv();
      },
      maxOutput,
      files,
      acceptsImages: model.input.includes("image"),
      get tools() {
        return offer.tools();
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
  let aborts = 0;
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
    return describeContext({
      model: config.model,
      system: promptText(offer.system()),
      tools: offer.tools().specs,
      messages,
    });
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
    const system = offer.system();
    return { provider, model, system, store, maxTokens, maxRetries, thinkingLevel, signal, notify, emit };
  }

  function useSession(next: Session): void {
    if (running) throw busy(activity);
    if (next !== session) session.close();
    // One that only moved into a file is the same conversation still.
    const isAnother = next.id !== session.id;
    const files = isAnother ? createFileMemory() : environment.files;
    // A yes for the session was one for that session.
    if (isAnother) gate = createGate(permissions.policy, options.ask);
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
    const forget = () => void work.delete(done);
    const done: Promise<void> = promise.then(forget, forget);
    work.add(done);
    return promise;
  }

  async function idle(): Promise<void> {
    while (work.size > 0) await Promise.all(work);
  }

  async function abort(): Promise<void> {
    aborts++;
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
        return offer.system();
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
        return offer.system();
      },
      announceSystem: currentSystem(conversation.messages()) === undefined,
      async changeSystem() {
        await offer.update(signal);
        const told = currentSystem(conversation.messages());
        return told && systemChange(told, offer.system());
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
      await offer.update(running.signal);
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
    return options.deadline === undefined ? timeoutMs : Math.max(0, options.deadline - now());
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
    if (isAnswer(event) || event.type === "compaction_end") contextWarning.check(contextUsage);
  }

  return {
    get config() {
      return config;
    },
    sessions: options.sessions,
    session: () => session,
    messages: () => conversation.messages(),
    get systemPrompt() {
      return promptText(offer.system());
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
    aborts: () => aborts,
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
    heldBack: async (text) => options.resources?.heldBack(text),
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

/** Not of a request that failed: one that does not fit tells so itself. */
function isAnswer(event: AgentEvent): boolean {
  return event.type === "message_end" && event.message.role === "assistant" && event.message.stopReason !== "error";
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
