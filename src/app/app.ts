// The app: provider, tools, gate and conversation wired into one object that every mode drives.
import { type LoopOutcome, promptText, runLoop } from "../agent/loop.ts";
import type { Config, Environment } from "../config/config.ts";
import type { Ask } from "../permission/gate.ts";
import { createGate } from "../permission/policy.ts";
import type { AgentEvent, DeniedCall } from "../protocol/event.ts";
import type { Message, SystemMessage, Usage } from "../protocol/message.ts";
import type { Provider } from "../providers/provider.ts";
import { addUsage, emptyUsage } from "../providers/usage.ts";
import { createConversation } from "../session/conversation.ts";
import type { Session } from "../session/session.ts";
import { createMemorySession } from "../session/store.ts";
import { currentSystem } from "../session/tree.ts";
import { createFileMemory } from "../tools/file-memory.ts";
import { childEnvironment } from "../util/child-env.ts";
import { AppError } from "../util/error.ts";
import { realTarget, resolvePath } from "../util/paths.ts";
import type { Permissions } from "./permissions.ts";
import { buildSystemMessage } from "./system-prompt.ts";

export interface AppOptions {
  readonly config: Config;
  readonly permissions: Permissions;
  readonly provider: Provider;
  /** Kept in memory alone if not given. */
  readonly session?: Session;
  /** Makes the session that `clear` goes on in. */
  readonly newSession?: () => Session;
  /** The working directory at start, absolute. */
  readonly cwd: string;
  /** The process's environment; children get it without the provider keys. */
  readonly env: Environment;
  /** Who answers when the gate asks. */
  readonly ask: Ask;
  /** Told of failures that are bugs of ours. */
  readonly onBug: (error: unknown) => void;
  /** Tells the user something that is no part of the conversation, such as a detour that a provider asked for. */
  readonly notify: (text: string) => void;
}

/** Tokens and dollars: of the last answer, and of the whole conversation. */
export interface UsageReport {
  readonly last: Usage | undefined;
  readonly total: Usage;
}

export interface App {
  readonly config: Config;
  /** The session that is written to; its id is in the environment of children. */
  session(): Session;
  /** The conversation at its leaf, as the next request is made of it. */
  messages(): readonly Message[];
  /** The whole system prompt as text. */
  readonly systemPrompt: string;
  /** Runs one prompt to its end; rejects only when one is running already or the text is blank. */
  prompt(text: string): Promise<LoopOutcome>;
  /** Ends the running prompt at once: its request, and every tool it started. */
  abort(): void;
  /** Calls `listener` with every event from now on; the result ends that. */
  subscribe(listener: (event: AgentEvent) => void): () => void;
  /** Goes on in another session; the one before is closed. Rejected while a prompt is running. */
  useSession(session: Session): void;
  /** Goes on in a new, empty session; the system prompt stays. */
  clear(): void;
  /** Closes the session. */
  close(): void;
  usage(): UsageReport;
}

export function createApp(options: AppOptions): App {
  const { config, provider, cwd, env, permissions } = options;
  const { tools, sandbox } = permissions;
  const gate = createGate(permissions.policy, options.ask);
  const system = buildSystemMessage({ cwd, tools: tools.specs, contextFiles: config.contextFiles, now: new Date() });
  const newSession = options.newSession ?? (() => createMemorySession(cwd));
  let session = options.session ?? newSession();
  let conversation = createConversation(session);
  const childEnv = () => {
    const { keyVariables, envPass: pass } = config;
    return childEnvironment(env, { keyVariables, keys: [config.provider.apiKey], pass, sessionId: session.id });
  };
  let environment = {
    cwd,
    env: childEnv(),
    maxOutput: config.maxToolOutput,
    files: createFileMemory(),
    acceptsImages: config.model.input.includes("image"),
    tools,
    gate,
    sandbox,
    realPath: (path: string) => realTarget(resolvePath(cwd, path)),
    onBug: options.onBug,
  };
  const listeners = new Set<(event: AgentEvent) => void>();
  let running: AbortController | undefined;
  let { last, total } = usageOf(session);

  function useSession(next: Session): void {
    if (running) throw busy();
    if (next !== session) session.close();
    session = next;
    conversation = createConversation(session);
    environment = { ...environment, env: childEnv(), files: createFileMemory() };
    ({ last, total } = usageOf(session));
    if (session.entries().length === 0) declareSettings();
  }

  /** A new session begins with the model and thinking level in force. */
  function declareSettings(): void {
    const { provider: name, id } = config.model;
    session.append({ type: "model_change", provider: name, modelId: id });
    session.append({ type: "thinking_level_change", thinkingLevel: config.thinkingLevel ?? "off" });
  }

  if (session.entries().length === 0) declareSettings();

  function emit(event: AgentEvent): void {
    if (event.type === "message_end" && event.message.role === "assistant" && event.message.usage.totalTokens > 0) {
      last = event.message.usage;
      total = addUsage(total, last);
    }
    for (const listener of listeners) listener(event);
  }

  return {
    config,
    session: () => session,
    messages: () => conversation.messages(),
    systemPrompt: promptText(system),
    async prompt(text) {
      if (text.trim() === "") throw new AppError("usage", "The task is empty");
      if (running) throw busy();
      running = new AbortController();
      let aborted = false;
      let deniedCalls: readonly DeniedCall[] = [];
      try {
        const outcome = await runLoop({
          provider,
          model: config.model,
          system,
          announceSystem: !isSamePrompt(currentSystem(conversation.messages()), system),
          conversation,
          prompt: { role: "user", content: [{ type: "text", text }], timestamp: Date.now() },
          environment,
          maxTokens: config.maxTokens,
          maxTurns: config.maxTurns,
          maxRetries: config.maxRetries,
          temperature: config.temperature,
          thinkingLevel: config.thinkingLevel,
          notify: options.notify,
          signal: running.signal,
          emit,
        });
        aborted = outcome.status === "aborted";
        deniedCalls = outcome.denied;
        return outcome;
      } finally {
        running = undefined;
        emit({ type: "agent_settled", aborted, ...(deniedCalls.length > 0 ? { deniedCalls: [...deniedCalls] } : {}) });
      }
    },
    abort: () => running?.abort(),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    useSession,
    clear: () => useSession(newSession()),
    close: () => session.close(),
    usage: () => ({ last, total }),
  };
}

function busy(): AppError {
  return new AppError("usage", "A prompt is running already", { hint: "Wait for it or abort it." });
}

/** Whether the model has been told this prompt and these tools already. */
function isSamePrompt(told: SystemMessage | undefined, system: SystemMessage): boolean {
  return (
    told !== undefined &&
    promptText(told) === promptText(system) &&
    JSON.stringify(told.toolsAdded) === JSON.stringify(system.toolsAdded)
  );
}

/** What a session has cost so far, on all of its branches. */
function usageOf(session: Session): UsageReport {
  let last: Usage | undefined;
  let total = emptyUsage();
  for (const entry of session.entries()) {
    const usage = entry.type === "message" ? entry.message.usage : entry.usage;
    if (!isUsage(usage)) continue;
    if (entry.type === "message") last = usage;
    total = addUsage(total, usage);
  }
  return { last, total };
}

function isUsage(value: unknown): value is Usage {
  return typeof value === "object" && value !== null && "totalTokens" in value && Number(value.totalTokens) > 0;
}
