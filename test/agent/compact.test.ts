// Compaction in the loop, with a scripted provider and a real session in memory: when it happens, what it asks, what it leaves.
import { describe, expect, test } from "bun:test";
import { compact } from "../../src/agent/compact.ts";
import { runLoop } from "../../src/agent/loop.ts";
import { repairHistory } from "../../src/agent/repair-history.ts";
import { createRoom, isFailedCompaction } from "../../src/agent/room.ts";
import type { EntryDraft } from "../../src/protocol/entry.ts";
import { AgentEvent } from "../../src/protocol/event.ts";
import type { Message, SystemMessage, ToolSpec } from "../../src/protocol/message.ts";
import type { Model } from "../../src/protocol/model.ts";
import type { Chunk, ProviderRequest } from "../../src/providers/provider.ts";
import { createConversation } from "../../src/session/conversation.ts";
import { createMemorySession } from "../../src/session/store.ts";
import { AppError } from "../../src/util/error.ts";
import { createFakeEnvironment, type FakeTool } from "../helpers/fake-environment.ts";
import { checkHistory } from "../helpers/history-invariants.ts";
import { assistant, outline, system, toolCall, toolResult, user } from "../helpers/messages.ts";
import {
  createScriptedProvider,
  hangAfter,
  type ScriptedAnswer,
  testModel,
  turn,
} from "../helpers/scripted-provider.ts";

const overflow = new AppError("context_overflow", "400: maximum context length is 10000 tokens");
const long = (tokens: number) => "x".repeat(4 * tokens);

/** An answer whose prompt the provider counted. */
function counted(prompt: number, chunks: Chunk[]): Chunk[] {
  const counts = { input: prompt, output: 10, cacheRead: 0, cacheWrite: 0 };
  return [{ type: "usage", counts }, ...chunks];
}

interface WorldOptions {
  readonly answers: readonly ScriptedAnswer[];
  readonly history?: readonly Message[];
  readonly window?: number;
  readonly model?: Partial<Model>;
  readonly auto?: boolean;
  readonly tools?: Readonly<Record<string, FakeTool>>;
  /** Tokens of the tools' descriptions. */
  readonly toolTokens?: number;
  readonly maxRetries?: number;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: AgentEvent) => void;
  /** Fails for these entries, as a full disk would. */
  readonly refuse?: (draft: EntryDraft) => boolean;
}

/** A session with a history, a provider, and what it takes to prompt or compact it. */
function createWorld(options: WorldOptions) {
  const session = createMemorySession("/");
  const conversation = createConversation(session);
  for (const message of options.history ?? []) conversation.add(message);
  const provider = createScriptedProvider(options.answers);
  const { environment, ran } = createFakeEnvironment(options.tools ?? { bash: () => ({ text: "ok" }) });
  const description = long(options.toolTokens ?? 1);
  const specs: ToolSpec[] = environment.tools.specs.map((spec) => ({ ...spec, description }));
  const prompt: SystemMessage = { ...system("be brief"), toolsAdded: specs };
  const events: AgentEvent[] = [];
  const notices: string[] = [];
  const model = { ...testModel, contextWindow: options.window ?? 10_000, ...options.model };
  const parts = {
    provider,
    model,
    system: prompt,
    maxTokens: 1000,
    maxRetries: options.maxRetries ?? 0,
    signal: options.signal ?? new AbortController().signal,
    notify: (text: string) => void notices.push(text),
    emit(event: AgentEvent) {
      events.push(AgentEvent.parse(structuredClone(event)));
      options.onEvent?.(event);
    },
    store: {
      messages: () => conversation.messages(),
      entryOf: (message: Message) => session.entries().find(({ id }) => id === conversation.entryIdOf(message)),
      append(draft: EntryDraft) {
        if (options.refuse?.(draft)) throw new AppError("session", "no space left");
        return session.append(draft);
      },
      reload: () => conversation.reload(),
    },
  };
  return {
    session,
    conversation,
    provider,
    events,
    notices,
    ran,
    compact: (wishes?: string) => compact({ ...parts, reason: "manual", wishes }),
    async prompt(text: string) {
      const outcome = await runLoop({
        ...parts,
        announceSystem: false,
        conversation,
        prompt: { ...user(text), timestamp: Date.now() },
        environment: { ...environment, tools: { ...environment.tools, specs } },
        maxTurns: 20,
        temperature: undefined,
        room: createRoom({
          ...parts,
          auto: options.auto ?? true,
          failures: () => session.entries().filter(isFailedCompaction).length,
        }),
      });
      for (const { messages } of provider.requests) expect(checkHistory(messages)).toEqual([]);
      expect(checkHistory(repairHistory(conversation.messages()))).toEqual([]);
      return outcome;
    },
    /** What was asked, as `summary` or the conversation. */
    asked: () =>
      provider.requests.map((request) => (isSummary(request) ? "summary" : shown(request.messages).join(" | "))),
    compactions: () =>
      events.flatMap((event) =>
        event.type === "compaction_start" || event.type === "compaction_end" ? [`${event.type} ${event.reason}`] : [],
      ),
  };
}

function isSummary(request: ProviderRequest | undefined): boolean {
  return request !== undefined && request.tools.length === 0 && request.system.startsWith("You write the notes");
}

function shown(messages: readonly Message[]): string[] {
  return outline(messages).map((line) => line.replace(/x{9,}/g, "…").replaceAll("\n", " ").slice(0, 120));
}

function textIn(request: ProviderRequest | undefined): string {
  return JSON.stringify(request?.messages);
}

/** The answers to all requests but those for a summary, which get `notes`. */
function inTurn(answers: readonly Chunk[][]): ScriptedAnswer[] {
  const rest = [...answers];
  return Array.from(
    { length: 3 * answers.length },
    () =>
      async function* (request: ProviderRequest) {
        yield isSummary(request) ? turn({ text: "notes" }) : (rest.shift() ?? []);
      },
  );
}

/** Some turns of about `tokens` each. */
function turns(count: number, tokens: number): Message[] {
  return Array.from({ length: count }, (_, i) => [
    user(`question ${i}`),
    assistant([toolCall(`h${i}`, "read", { path: `f${i}` })]),
    toolResult(`h${i}`, long(tokens)),
    assistant([`answer ${i}`]),
  ]).flat();
}

const events = (list: readonly AgentEvent[]) =>
  list.flatMap(({ type }) => (type === "message_update" || type.startsWith("message_") ? [] : [type]));

describe("a conversation that would not fit", () => {
  test("is compacted before the request, with the input that waits counted and kept", async () => {
    const world = createWorld({
      history: turns(4, 1500),
      answers: [turn({ text: "## Goal\nnotes" }), turn({ text: "done" })],
    });
    const { status, text } = await world.prompt(`now ${long(3000)}`);
    expect({ status, text }).toEqual({ status: "done", text: "done" });
    expect(world.asked()).toEqual([
      "summary",
      "user Summary of the conversation so far:  ## Goal notes  ## Files read  - f0 - f1 - f2 - f3 | user now …",
    ]);
    expect(events(world.events)).toEqual([
      "agent_start",
      "turn_start",
      "compaction_start",
      "compaction_end",
      "turn_end",
      "agent_end",
    ]);
    expect(world.events.find(({ type }) => type === "compaction_end")).toMatchObject({
      reason: "threshold",
      aborted: false,
      willRetry: false,
      result: {
        summary: expect.stringContaining("notes"),
        tokensBefore: expect.any(Number),
        estimatedTokensAfter: expect.any(Number),
        details: { readFiles: ["f0", "f1", "f2", "f3"], modifiedFiles: [] },
      },
    });
  });

  test("keeps its recent turns, and the compaction entry says where they begin", async () => {
    const world = createWorld({
      history: turns(9, 1000),
      answers: [turn({ text: "notes" }), turn({ text: "done" })],
    });
    await world.prompt("and now?");
    expect(world.asked()[1]?.split(" | ").slice(1)).toEqual([
      ...["user question 8", "assistant +h8", "result h8 …", "assistant answer 8"],
      "user and now?",
    ]);
    const entry = world.session.entries().find(({ type }) => type === "compaction");
    const kept = world.session.entries().find(({ id }) => id === entry?.firstKeptEntryId);
    expect(kept).toMatchObject({ message: { role: "user", content: "question 8" } });
    expect(entry).toMatchObject({ systemMessage: { role: "system", content: "be brief" }, usage: expect.anything() });
  });

  test("is left alone as long as it fits, and without automatic compaction", async () => {
    const small = createWorld({ history: turns(2, 1000), answers: [turn({ text: "done" })] });
    await small.prompt("hi");
    const manual = createWorld({ history: turns(9, 1000), auto: false, answers: [turn({ text: "done" })] });
    await manual.prompt("hi");
    expect([small.compactions(), manual.compactions()]).toEqual([[], []]);
  });

  test("in the middle of a long turn is cut between its rounds, and the user's words stay", async () => {
    const big: FakeTool = () => ({ text: long(240) });
    const calls = Array.from({ length: 12 }, (_, i) => turn({ calls: [{ id: `c${i}`, name: "bash", args: {} }] }));
    const world = createWorld({
      tools: { bash: big },
      history: turns(1, 10),
      answers: inTurn([...calls, turn({ text: "done" })]),
      window: 2000,
    });
    const { status } = await world.prompt("build the thing");
    expect(status).toBe("done");
    expect(world.ran).toHaveLength(12);
    expect(world.compactions().length).toBeGreaterThanOrEqual(4);
    for (const request of world.provider.requests) {
      if (isSummary(request)) expect(textIn(request)).not.toContain("## The user's latest message");
      else expect(textIn(request)).toContain("build the thing");
    }
  });
});

describe("an overflow that the provider tells of", () => {
  test("leads to one compaction and one repetition", async () => {
    const world = createWorld({
      history: turns(3, 200),
      answers: [overflow, turn({ text: "notes" }), turn({ text: "done" })],
    });
    const { status } = await world.prompt("go");
    expect(status).toBe("done");
    expect(world.asked().map((line) => line.split(" ")[0])).toEqual(["user", "summary", "user"]);
    expect(events(world.events)).toEqual([
      "agent_start",
      "turn_start",
      "turn_end",
      "agent_end",
      "compaction_start",
      "compaction_end",
      "agent_start",
      "turn_start",
      "turn_end",
      "agent_end",
    ]);
    expect(world.events.filter(({ type }) => type === "agent_end")).toMatchObject([
      { willRetry: true },
      { willRetry: false },
    ]);
    expect(world.events.find(({ type }) => type === "compaction_end")).toMatchObject({
      reason: "overflow",
      willRetry: true,
    });
  });

  test("again after the compaction ends the prompt with one error that names the fixed part", async () => {
    const world = createWorld({
      history: turns(3, 200),
      toolTokens: 6000,
      answers: [overflow, turn({ text: "notes" }), overflow, turn({ text: "never asked" })],
    });
    const { status, error } = await world.prompt("go");
    expect(status).toBe("error");
    expect(world.provider.requests).toHaveLength(3);
    expect(world.compactions()).toEqual(["compaction_start overflow", "compaction_end overflow"]);
    expect(error?.code).toBe("context_overflow");
    expect(error?.message).toMatch(
      /^400: maximum.*\n.*the system prompt and the tools take about 6,0\d\d of its 10,000 tokens, the conversation about \d+$/,
    );
    expect(error?.hint).toContain("--tools");
    // The prompt that failed is no part of what follows; the summary is.
    expect(shown(world.conversation.messages()).at(-1)).not.toContain("go");
  });

  test("with nothing to compact, or without automatic compaction, is explained at once", async () => {
    for (const options of [{}, { auto: false, history: turns(3, 200) }]) {
      const world = createWorld({ ...options, answers: [overflow] });
      const { error } = await world.prompt("go");
      expect(error?.message).toContain("the system prompt and the tools take about");
      expect(world.compactions()).toEqual([]);
      expect(world.events.filter(({ type }) => type === "agent_end")).toMatchObject([{ willRetry: false }]);
    }
  });

  test("that compacting cannot help is told with the reason, and the history stays", async () => {
    const history = turns(3, 200);
    const refused = new AppError("auth", "401: no");
    const world = createWorld({ history, answers: [overflow, refused] });
    const { error } = await world.prompt("go");
    expect(error?.message).toContain("compacting failed (401: no)");
    expect(world.conversation.messages()).toEqual(history);
    expect(world.session.entries().filter(isFailedCompaction)).toHaveLength(1);
  });
});

describe("a fixed part that leaves no room", () => {
  test("and a provider that counts the same before and after: one compaction, then a clear error, no loop", async () => {
    const answers = [
      counted(7900, turn({ text: "one" })),
      turn({ text: "notes" }),
      ...["two", "three", "four"].map((text) => counted(7900, turn({ text }))),
    ];
    const world = createWorld({ window: 8000, toolTokens: 7000, answers });
    expect((await world.prompt("1")).text).toBe("one");
    expect((await world.prompt("2")).text).toBe("two");
    const { status, error } = await world.prompt("3");
    expect({ status, code: error?.code }).toEqual({ status: "error", code: "context_overflow" });
    expect(error?.message).toMatch(/the system prompt and the tools take about 7,\d\d\d of its 8,000 tokens/);
    await world.prompt("4");
    expect(world.asked().filter((line) => line === "summary")).toHaveLength(1);
    expect(world.provider.requests).toHaveLength(3);
  });

  test("above the whole window is told without a request", async () => {
    const world = createWorld({ window: 8000, toolTokens: 9000, answers: [] });
    const { error } = await world.prompt("hi");
    expect(error?.message).toContain("take about 9,0");
    expect(world.provider.requests).toEqual([]);
  });

  test("does not make every turn of a run compact", async () => {
    const calls = Array.from({ length: 8 }, (_, i) =>
      counted(7700, turn({ calls: [{ id: `c${i}`, name: "bash", args: {} }] })),
    );
    const world = createWorld({
      window: 8000,
      toolTokens: 5000,
      answers: [calls[0] ?? [], turn({ text: "notes" }), ...calls.slice(1)],
    });
    await world.prompt("go");
    expect(world.asked().filter((line) => line === "summary").length).toBeLessThanOrEqual(1);
  });
});

describe("the request for a summary", () => {
  test("is bounded: a session of twice the window is folded piece by piece", async () => {
    const answers = Array.from({ length: 6 }, (_, i) => turn({ text: `notes ${i}` }));
    const world = createWorld({ history: turns(40, 500), answers: [...answers] });
    const { result } = await world.compact();
    const requests = world.provider.requests;
    expect(requests.length).toBeGreaterThan(1);
    for (const request of requests) {
      expect(isSummary(request)).toBe(true);
      expect(textIn(request).length / 4 + request.maxTokens).toBeLessThan(10_000);
    }
    expect(textIn(requests[1])).toContain("notes 0");
    expect(result?.summary).toStartWith(`notes ${requests.length - 1}`);
    expect(result?.estimatedTokensAfter).toBeLessThan(5000);
  });

  test("is made smaller when the provider calls it too large, and at last the oldest part is left out", async () => {
    const history = Array.from({ length: 6 }, () => [user(long(2500)), assistant(["ok"])]).flat();
    const answers = Array.from({ length: 8 }, (_, i) => turn({ text: `notes ${i}` }));
    const first = createWorld({ history, answers: [overflow, ...answers] });
    expect((await first.compact()).result).toBeDefined();
    expect(textIn(first.provider.requests[1]).length).toBeLessThan(textIn(first.provider.requests[0]).length);
    const never = createWorld({ history: turns(4, 300), answers: Array.from({ length: 40 }, () => overflow) });
    const { result } = await never.compact();
    expect(result?.summary).toContain("question 0");
    expect(never.provider.requests.length).toBeLessThan(20);
  });

  test("leaves a part that the provider takes in no size out behind the earlier summary, with the user's words", async () => {
    const refusals = Array.from({ length: 40 }, () => overflow);
    const world = createWorld({ history: turns(3, 100), answers: [turn({ text: "first" }), ...refusals] });
    await world.compact();
    for (const message of turns(9, 100).slice(4)) world.conversation.add(message);
    const { result } = await world.compact();
    expect(result?.summary).toMatch(/^first\n\nWhat followed was too long .*question 4/s);
    expect(result?.summary.match(/## Files read/g)).toHaveLength(1);
  });

  test("does not show the lists that stand behind every summary", async () => {
    const answers = [turn({ text: "first" }), turn({ text: "second" })];
    const world = createWorld({ history: turns(3, 100), answers });
    await world.compact();
    for (const message of turns(4, 100).slice(8)) world.conversation.add(message);
    const { result } = await world.compact();
    expect(textIn(world.provider.requests[1])).toContain("<notes>\\nfirst\\n</notes>");
    expect(result?.summary).toBe("second\n\n## Files read\n\n- f0\n- f1\n- f2");
  });

  test("carries the earlier summary, and its files are remembered", async () => {
    const world = createWorld({ history: turns(3, 100), answers: [turn({ text: "first" }), turn({ text: "second" })] });
    await world.compact();
    for (const message of turns(2, 100).slice(4)) world.conversation.add(message);
    const { result } = await world.compact("mind the tests");
    expect(textIn(world.provider.requests[1])).toMatch(/<notes>\\nfirst/);
    expect(textIn(world.provider.requests[1])).toContain("mind the tests");
    expect(result?.details).toEqual({ readFiles: ["f0", "f1", "f2"], modifiedFiles: [] });
    expect(shown(world.conversation.messages()).slice(0, 3)).toEqual([
      "system be brief",
      "compactionSummary",
      "user question 1",
    ]);
  });

  test("is repeated when the answer is empty, once", async () => {
    const twice = createWorld({ history: turns(3, 100), answers: [turn({ text: " \n" }), turn({ text: "notes" })] });
    expect((await twice.compact()).result?.summary).toStartWith("notes");
    const never = createWorld({
      history: turns(3, 100),
      answers: [turn({}), turn({ thinking: "hm" }), turn({ text: "late" })],
    });
    expect((await never.compact()).error).toMatchObject({ code: "empty_answer" });
    expect(never.provider.requests).toHaveLength(2);
  });

  test("is repeated for a passing failure, as any other is", async () => {
    const busy = new AppError("overloaded", "529: busy", { retryable: true, retryAfterMs: 0 });
    const world = createWorld({ history: turns(3, 100), maxRetries: 1, answers: [busy, turn({ text: "notes" })] });
    expect((await world.compact()).result).toBeDefined();
    expect(world.notices).toEqual([expect.stringContaining("529: busy")]);
    const gone = createWorld({ history: turns(3, 100), maxRetries: 1, answers: [busy, busy] });
    expect((await gone.compact()).error).toBe(busy);
  });

  test("counts with what each of its pieces has cost, also when nothing came of it", async () => {
    const answers = [
      counted(50, turn({ text: "a" })),
      counted(60, turn({ text: "b" })),
      counted(70, turn({ text: "c" })),
    ];
    const world = createWorld({ history: turns(14, 500), answers });
    const { result } = await world.compact();
    const count = world.provider.requests.length;
    expect(result?.usage?.input).toBe([50, 60, 70].slice(0, count).reduce((a, b) => a + b));
    const failed = createWorld({ history: turns(3, 100), answers: [counted(50, turn({})), counted(60, turn({}))] });
    await failed.compact();
    expect(failed.session.entries().find(({ type }) => type === "usage")).toMatchObject({
      kind: "compaction",
      usage: { input: 110 },
    });
  });
});

describe("a compaction that fails", () => {
  test("is recorded, and the history is as it was", async () => {
    const history = turns(3, 100);
    const world = createWorld({ history, answers: [new AppError("auth", "401: no")] });
    const { error } = await world.compact();
    expect(error?.message).toBe("401: no");
    expect(world.conversation.messages()).toEqual(history);
    expect(world.session.entries().at(-1)).toMatchObject({
      type: "custom",
      customType: "compaction_failed",
      data: { reason: "manual", code: "auth", message: "401: no" },
    });
    expect(world.events.at(-1)).toMatchObject({ aborted: false, errorMessage: "Compaction failed: 401: no" });
  });

  test("because its entry cannot be stored changes nothing", async () => {
    const history = turns(3, 100);
    const world = createWorld({
      history,
      answers: [turn({ text: "notes" })],
      refuse: ({ type }) => type === "compaction",
    });
    expect((await world.compact()).error?.message).toBe("no space left");
    expect(world.conversation.messages()).toEqual(history);
  });

  test("three times is not tried again without being asked", async () => {
    const refused = new AppError("bad_request", "400: no");
    const answers = [1, 2, 3].flatMap(() => [refused, turn({ text: "done" })]);
    const world = createWorld({ history: turns(9, 1000), answers: [...answers, turn({ text: "last" })] });
    for (const text of ["1", "2", "3"]) expect((await world.prompt(text)).status).toBe("done");
    expect((await world.prompt("4")).text).toBe("last");
    expect(world.session.entries().filter(isFailedCompaction)).toHaveLength(3);
  });

  test("because there is nothing to compact says so, and asks nobody", async () => {
    const world = createWorld({ answers: [] });
    expect((await world.compact()).error?.message).toBe("Nothing to compact (session too small)");
    expect(world.events).toEqual([
      { type: "compaction_start", reason: "manual" },
      {
        type: "compaction_end",
        reason: "manual",
        aborted: false,
        willRetry: false,
        errorMessage: "Compaction failed: Nothing to compact (session too small)",
      },
    ]);
    expect(world.session.entries()).toEqual([]);
  });
});

test("an abort ends a compaction at once; the prompt it was for is gone and the rest stays", async () => {
  const controller = new AbortController();
  const history = turns(9, 1000);
  const world = createWorld({
    history,
    signal: controller.signal,
    answers: [hangAfter("half", () => controller.abort())],
  });
  const { status, answered } = await world.prompt("go");
  expect({ status, answered }).toEqual({ status: "aborted", answered: false });
  expect(world.conversation.messages()).toEqual(history);
  expect(world.events.find(({ type }) => type === "compaction_end")).toEqual({
    type: "compaction_end",
    reason: "threshold",
    aborted: true,
    willRetry: false,
  });
});

describe("the rebuilt context", () => {
  test("survives two compactions in a row and a call that never got its result", async () => {
    const history = [...turns(5, 800), user("more"), assistant([toolCall("open")])];
    const answers = [turn({ text: "first" }), turn({ text: "done" }), turn({ text: "second" }), turn({ text: "done" })];
    const world = createWorld({ history, window: 5000, answers });
    await world.prompt("go on");
    await world.compact();
    await world.prompt("and on");
    const summaries = world.conversation.messages().filter(({ role }) => role === "compactionSummary");
    expect(summaries).toHaveLength(1);
    expect(summaries[0]).toMatchObject({ summary: expect.stringMatching(/^second/) });
  });

  test("keeps no thinking that newer Claude models would refuse", async () => {
    const thinking = { type: "thinking" as const, thinking: "hm", thinkingSignature: "S" };
    const own = { api: "anthropic-messages" };
    const history = [...turns(2, 100), user("a"), assistant([thinking, "b"], own)];
    const run = async (model: Partial<Model>) => {
      const world = createWorld({ history, model, answers: [turn({ text: "notes" }), turn({ text: "done" })] });
      await world.compact();
      await world.prompt("c");
      return shown(world.provider.requests[1]?.messages ?? []).slice(1);
    };
    expect(await run({ adaptiveThinking: true })).toEqual(["user a", "assistant b", "user c"]);
    expect(await run({})).toEqual(["user a", "assistant (hm) b", "user c"]);
  });

  test("bounds the answer by what a small window has left", async () => {
    const world = createWorld({
      window: 2000,
      history: turns(1, 1000),
      answers: [turn({ text: "done" })],
      auto: false,
    });
    await world.prompt("hi");
    expect(world.provider.requests[0]?.maxTokens).toBeLessThan(900);
  });
});
