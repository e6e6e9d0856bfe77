// A prompt through the real loop, adapter and network, with fake tools: for tests of what several requests in a row show.
import { expect } from "bun:test";
import { type LoopInput, type LoopOutcome, runLoop } from "../../src/agent/loop.ts";
import { AgentEvent } from "../../src/protocol/event.ts";
import type { Message, ToolSpec } from "../../src/protocol/message.ts";
import type { Model } from "../../src/protocol/model.ts";
import { createHttpTransport } from "../../src/providers/http.ts";
import type { ProviderSettings } from "../../src/providers/provider.ts";
import { defaultQuirks, type Quirks } from "../../src/providers/quirks.ts";
import type { CallSpec } from "./chat-stream.ts";
import { conversationIn } from "./conversation.ts";
import { createFakeEnvironment, type FakeTool } from "./fake-environment.ts";
import { system, user } from "./messages.ts";
import { type Script, startReplayServer } from "./replay-server.ts";
import { testModel } from "./scripted-provider.ts";
import type { Wire } from "./wire.ts";

export interface ConverseOptions
  extends Partial<Pick<LoopInput, "maxRetries" | "temperature" | "thinkingLevel" | "signal" | "maxTokens">> {
  /** The provider's name; `test` by default. */
  readonly provider?: string;
  readonly settings?: Partial<ProviderSettings>;
  readonly quirks?: Partial<Quirks>;
  readonly model?: Partial<Model>;
  readonly firstByteMs?: number;
  readonly system?: string;
  readonly tools?: Readonly<Record<string, FakeTool>>;
  /** What the model is told of the tools; objects without properties by default. */
  readonly specs?: readonly ToolSpec[];
  /** Grows with the conversation. */
  readonly history?: Message[];
  readonly prompt?: string;
  readonly onEvent?: (event: AgentEvent) => void;
}

export interface Conversation extends LoopOutcome {
  readonly history: readonly Message[];
  readonly events: readonly AgentEvent[];
  /** The calls that ran, as `name {arguments}`. */
  readonly ran: readonly string[];
  readonly notices: readonly string[];
}

const echo: FakeTool = (args) => ({ text: `ran ${JSON.stringify(args)}` });

/** A partner at `url` that remembers, as one process does, what the provider turned out to want. */
export function createPartner(wire: Wire, url: string, fixed: ConverseOptions = {}) {
  const name = fixed.provider ?? "test";
  const provider = wire.create(
    {
      name,
      baseUrl: url,
      apiKey: "test-key-0123456789",
      idleMs: 0,
      headers: {},
      quirks: { ...defaultQuirks, ...fixed.quirks },
      ...fixed.settings,
    },
    createHttpTransport({ firstByteMs: fixed.firstByteMs ?? 0 }),
  );
  return async (more: ConverseOptions = {}): Promise<Conversation> => {
    const options = { ...fixed, ...more };
    const { environment, ran } = createFakeEnvironment(options.tools ?? { bash: echo, read: echo });
    const history = options.history ?? [];
    const events: AgentEvent[] = [];
    const notices: string[] = [];
    const { specs } = options;
    const outcome = await runLoop({
      provider,
      model: { ...testModel, provider: name, api: wire.api, ...options.model },
      system: system(options.system ?? "be brief"),
      announceSystem: false,
      conversation: conversationIn(history),
      prompt: user(options.prompt ?? "do it"),
      environment: specs ? { ...environment, tools: { ...environment.tools, specs } } : environment,
      maxTokens: options.maxTokens ?? 1000,
      maxTurns: 20,
      maxRetries: options.maxRetries ?? 0,
      temperature: options.temperature,
      thinkingLevel: options.thinkingLevel,
      signal: options.signal ?? new AbortController().signal,
      notify: (text) => notices.push(text),
      emit(event) {
        events.push(AgentEvent.parse(structuredClone(event)));
        options.onEvent?.(event);
      },
    });
    return { ...outcome, history, events, ran, notices };
  };
}

/** One prompt to a partner of its own. */
export function converse(wire: Wire, url: string, options: ConverseOptions = {}): Promise<Conversation> {
  return createPartner(wire, url, options)();
}

/** One prompt against a script, whose requests must be good ones: what came of it, the requests, and what each of them said. */
export function createRunner(wire: Wire) {
  return async (script: Script, options: ConverseOptions = {}) => {
    await using server = await startReplayServer(script);
    const result = await converse(wire, server.url, options);
    expect(server.problems).toEqual([]);
    return { ...result, requests: server.requests, outlines: server.requests.map(({ body }) => wire.outline(body)) };
  };
}

/** A call of `bash` with the arguments `{"n":1}`. */
export function callOf(id: string, name = "bash", args: CallSpec["arguments"] = { n: 1 }): CallSpec {
  return { id, name, arguments: args };
}
