// The app: provider, tools, gate and conversation wired into one object that every mode drives.
import { realpathSync } from "node:fs";
import { type LoopOutcome, promptText, runLoop } from "../agent/loop.ts";
import type { Config, Environment } from "../config/config.ts";
import type { Ask } from "../permission/gate.ts";
import { createGate } from "../permission/policy.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Message, Usage } from "../protocol/message.ts";
import type { Provider } from "../providers/provider.ts";
import { addUsage, emptyUsage } from "../providers/usage.ts";
import { createFileMemory } from "../tools/file-memory.ts";
import { builtinTools } from "../tools/index.ts";
import { AppError } from "../util/error.ts";
import { realTarget, resolvePath } from "../util/paths.ts";
import { buildSystemMessage } from "./system-prompt.ts";

export interface AppOptions {
  readonly config: Config;
  readonly provider: Provider;
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
  readonly messages: readonly Message[];
  /** The whole system prompt as text. */
  readonly systemPrompt: string;
  /** Runs one prompt to its end; rejects only when one is running already or the text is blank. */
  prompt(text: string): Promise<LoopOutcome>;
  /** Ends the running prompt at once: its request, and every tool it started. */
  abort(): void;
  /** Calls `listener` with every event from now on; the result ends that. */
  subscribe(listener: (event: AgentEvent) => void): () => void;
  /** Forgets the conversation; the system prompt stays. */
  clear(): void;
  usage(): UsageReport;
}

export function createApp(options: AppOptions): App {
  const { config, provider, cwd, env } = options;
  const tools = builtinTools();
  const gate = createGate({ realCwd: realpathSync(cwd), yolo: config.yolo }, options.ask);
  const system = buildSystemMessage({ cwd, tools: tools.specs, contextFiles: config.contextFiles, now: new Date() });
  const environment = {
    cwd,
    env: withoutKeys(env, config.keyVariables),
    maxOutput: config.maxToolOutput,
    files: createFileMemory(),
    acceptsImages: config.model.input.includes("image"),
    tools,
    gate,
    realPath: (path: string) => realTarget(resolvePath(cwd, path)),
    onBug: options.onBug,
  };
  const history: Message[] = [];
  const listeners = new Set<(event: AgentEvent) => void>();
  let announceSystem = true;
  let running: AbortController | undefined;
  let last: Usage | undefined;
  let total = emptyUsage();

  function emit(event: AgentEvent): void {
    if (event.type === "message_end" && event.message.role === "assistant" && event.message.usage.totalTokens > 0) {
      last = event.message.usage;
      total = addUsage(total, last);
    }
    for (const listener of listeners) listener(event);
  }

  return {
    config,
    messages: history,
    systemPrompt: promptText(system),
    async prompt(text) {
      if (text.trim() === "") throw new AppError("usage", "The task is empty");
      if (running) throw new AppError("usage", "A prompt is running already", { hint: "Wait for it or abort it." });
      running = new AbortController();
      let aborted = false;
      try {
        const outcome = await runLoop({
          provider,
          model: config.model,
          system,
          announceSystem,
          history,
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
        return outcome;
      } finally {
        announceSystem = false;
        running = undefined;
        emit({ type: "agent_settled", aborted });
      }
    },
    abort: () => running?.abort(),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    clear() {
      history.length = 0;
      environment.files.clear();
      announceSystem = true;
      last = undefined;
      total = emptyUsage();
    },
    usage: () => ({ last, total }),
  };
}

function withoutKeys(env: Environment, keys: readonly string[]): Environment {
  const hidden = new Set(keys);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
}
