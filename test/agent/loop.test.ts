// The loop with a scripted provider and fake tools: the order of events, which calls run, and how a run ends.
import { describe, expect, test } from "bun:test";
import { type LoopInput, runLoop } from "../../src/agent/loop.ts";
import { repairHistory } from "../../src/agent/repair-history.ts";
import { AgentEvent } from "../../src/protocol/event.ts";
import type { Message } from "../../src/protocol/message.ts";
import { AppError } from "../../src/util/error.ts";
import { conversationIn } from "../helpers/conversation.ts";
import { createFakeEnvironment, type FakeTool } from "../helpers/fake-environment.ts";
import { checkHistory } from "../helpers/history-invariants.ts";
import { assistant, outline, system, user } from "../helpers/messages.ts";
import {
  createScriptedProvider,
  hangAfter,
  type ScriptedAnswer,
  testModel,
  turn,
} from "../helpers/scripted-provider.ts";

interface RunOptions extends Partial<Pick<LoopInput, "announceSystem" | "maxTurns" | "maxRetries" | "signal">> {
  readonly tools?: Readonly<Record<string, FakeTool>>;
  readonly denied?: readonly string[];
  readonly history?: Message[];
  readonly onEvent?: (event: AgentEvent) => void;
}

const echo: FakeTool = (args) => ({ text: `ran ${JSON.stringify(args)}` });

async function run(answers: readonly ScriptedAnswer[], options: RunOptions = {}) {
  const provider = createScriptedProvider(answers);
  const { environment, ran, bugs } = createFakeEnvironment(options.tools ?? { bash: echo, read: echo }, options.denied);
  const history = options.history ?? [];
  const events: AgentEvent[] = [];
  const outcome = await runLoop({
    provider,
    model: testModel,
    system: system("be brief"),
    announceSystem: options.announceSystem ?? false,
    conversation: conversationIn(history),
    prompt: user("do it"),
    environment,
    maxTokens: 1000,
    maxTurns: options.maxTurns ?? 10,
    maxRetries: options.maxRetries ?? 0,
    temperature: undefined,
    signal: options.signal ?? new AbortController().signal,
    emit(event) {
      events.push(event);
      options.onEvent?.(event);
    },
  });
  for (const event of events) AgentEvent.parse(event);
  // Each attempt is a run with one end; the last one says that nothing follows, unless the user stopped the wait for it.
  const ends = events.flatMap((event) => (event.type === "agent_end" ? [event.willRetry] : []));
  expect(ends.length).toBe(events.filter(({ type }) => type === "agent_start").length);
  expect(ends.slice(0, -1)).not.toContain(false);
  const last = events.at(-1);
  expect(last?.type).toBe(ends.at(-1) ? "auto_retry_end" : "agent_end");
  expect(bugs).toEqual([]);
  expect(checkHistory(repairHistory(history))).toEqual([]);
  for (const { messages } of provider.requests) expect(checkHistory(messages)).toEqual([]);
  return { ...outcome, history, events, ran, requests: provider.requests };
}

function call(id: string, name = "bash", args: Record<string, unknown> | string = {}) {
  return { id, name, args };
}

function results(history: readonly Message[]): string[] {
  return outline(history.filter(({ role }) => role === "toolResult"));
}

/** Events in a word or two, without the updates of messages. */
function story(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case "message_update":
        return [];
      case "message_start":
      case "message_end":
        return [`${event.type} ${event.message.role}`];
      case "tool_execution_start":
      case "tool_execution_update":
      case "tool_execution_end":
        return [`${event.type} ${event.toolCallId}`];
      default:
        return [event.type];
    }
  });
}

describe("events", () => {
  test("of a run with two calls come in the order of the protocol", async () => {
    const { events } = await run(
      [turn({ text: "look", calls: [call("a"), call("b", "read")] }), turn({ text: "done" })],
      {
        announceSystem: true,
      },
    );
    expect(story(events)).toEqual([
      "agent_start",
      "turn_start",
      "message_start system",
      "message_end system",
      "message_start user",
      "message_end user",
      "message_start assistant",
      "message_end assistant",
      "tool_execution_start a",
      "tool_execution_end a",
      "message_start toolResult",
      "message_end toolResult",
      "tool_execution_start b",
      "tool_execution_end b",
      "message_start toolResult",
      "message_end toolResult",
      "turn_end",
      "turn_start",
      "message_start assistant",
      "message_end assistant",
      "turn_end",
      "agent_end",
    ]);
  });

  test("carry the progress of a tool between its start and its end", async () => {
    const slow: FakeTool = (_args, { onUpdate }) => {
      onUpdate({ content: [{ type: "text", text: "half" }] });
      return { text: "whole" };
    };
    const { events } = await run([turn({ calls: [call("a")] }), turn({ text: "done" })], { tools: { bash: slow } });
    expect(story(events).filter((word) => word.startsWith("tool"))).toEqual([
      "tool_execution_start a",
      "tool_execution_update a",
      "tool_execution_end a",
    ]);
  });

  test("at the end name every message of the run", async () => {
    const { events, history } = await run([turn({ calls: [call("a")] }), turn({ text: "done" })]);
    const last = events.at(-1);
    expect(last?.type === "agent_end" && last.messages).toEqual(history);
  });
});

describe("calls", () => {
  test("run one after another in the model's order, and the model sees their results", async () => {
    const { history, ran, requests, status, text } = await run([
      turn({ calls: [call("a", "bash", { n: 1 }), call("b", "read", { n: 2 })] }),
      turn({ calls: [call("c", "bash", { n: 3 })] }),
      turn({ text: "all done" }),
    ]);
    expect(ran).toEqual(['bash {"n":1}', 'read {"n":2}', 'bash {"n":3}']);
    expect({ status, text }).toEqual({ status: "done", text: "all done" });
    const expected = [
      "user do it",
      "assistant +a +b",
      'result a ran {"n":1}',
      'result b ran {"n":2}',
      "assistant +c",
      'result c ran {"n":3}',
      "assistant all done",
    ];
    expect(outline(history)).toEqual(expected);
    expect(requests.map(({ messages }) => messages.length)).toEqual([1, 4, 6]);
    expect(outline(requests[2]?.messages ?? [])).toEqual(expected.slice(0, 6));
  });

  test("count, not the reason the provider gives", async () => {
    const { ran, status } = await run([turn({ calls: [call("a")], reason: "stop" }), turn({ text: "done" })]);
    expect(ran).toEqual(["bash {}"]);
    expect(status).toBe("done");
  });

  test("of an unknown tool are answered as such", async () => {
    const { history, ran } = await run([turn({ calls: [call("a", "nope")] }), turn({ text: "done" })]);
    expect(ran).toEqual([]);
    expect(results(history)).toEqual(["result a Error: unknown tool 'nope'"]);
  });

  test("whose arguments are not JSON are answered with the reason and never run", async () => {
    const { history, ran } = await run([turn({ calls: [call("a", "bash", '{"command":}')] }), turn({ text: "done" })]);
    expect(ran).toEqual([]);
    expect(results(history)).toEqual([expect.stringMatching(/^result a Error: .*not valid JSON.*\{"command":\}/)]);
  });

  test("that the gate refuses are answered with its reason and listed", async () => {
    const { history, ran, denied, status } = await run(
      [turn({ calls: [call("a"), call("b", "read")] }), turn({ text: "done" })],
      {
        denied: ["bash"],
      },
    );
    expect(ran).toEqual(["read {}"]);
    expect(denied.map(({ toolCallId }) => toolCallId)).toEqual(["a"]);
    expect(results(history)[0]).toBe("result a Error: bash is not allowed");
    expect(status).toBe("done");
  });

  test("that the machine cannot run end the run after all calls have a result", async () => {
    const broken: FakeTool = () => {
      throw new AppError("tool_fatal", "no shell");
    };
    const { history, status, error } = await run([turn({ calls: [call("a"), call("b", "read")] })], {
      tools: { bash: broken, read: echo },
    });
    expect({ status, code: error?.code }).toEqual({ status: "error", code: "tool_fatal" });
    expect(outline(history).slice(0, 3)).toEqual(["user do it", "assistant +a +b", "result a Error: no shell"]);
    expect(results(history)).toHaveLength(2);
  });
});

describe("the output limit", () => {
  const cut = turn({ calls: [call("a", "bash", '{"command":"# a')], reason: "length" });

  test("cuts a call: it is not run, and the model is told to make smaller ones", async () => {
    const { history, ran, status } = await run([cut, turn({ text: "done" })]);
    expect(ran).toEqual([]);
    expect(results(history)).toEqual([expect.stringMatching(/^result a Error: not run: the output limit.*smaller/)]);
    expect(status).toBe("done");
  });

  test("cuts a call under another reason just the same", async () => {
    const { history, ran } = await run([
      turn({ calls: [call("a", "bash", '{"command":"# a')] }),
      turn({ text: "done" }),
    ]);
    expect(ran).toEqual([]);
    expect(results(history)).toEqual([expect.stringMatching(/not run: .*the output limit/)]);
  });

  test("leaves the calls before the cut one alone", async () => {
    const { ran } = await run([
      turn({ calls: [call("a", "read"), call("b", "bash", '{"comm')], reason: "length" }),
      turn({ text: "done" }),
    ]);
    expect(ran).toEqual(["read {}"]);
  });

  test("ends the run when it cuts three turns in a row", async () => {
    const { requests, status, error } = await run([cut, cut, cut, turn({ text: "never asked" })]);
    expect(requests).toHaveLength(3);
    expect({ status, code: error?.code }).toEqual({ status: "error", code: "output_limit" });
  });

  test("is forgiven by a turn whose calls are whole", async () => {
    const whole = turn({ calls: [call("b", "read")] });
    const { status, ran } = await run([cut, cut, whole, cut, cut, turn({ text: "done" })]);
    expect(status).toBe("done");
    expect(ran).toEqual(["read {}"]);
  });

  test("on an answer without calls is an error that keeps the text", async () => {
    const { status, error, text } = await run([turn({ text: "half an ans", reason: "length" })]);
    expect({ status, code: error?.code, text }).toEqual({ status: "error", code: "output_limit", text: "half an ans" });
  });
});

describe("the end of a run", () => {
  test("is the turn limit, with every call answered", async () => {
    const { status, error, requests, history } = await run(
      [turn({ calls: [call("a")] }), turn({ calls: [call("b")] }), turn({ text: "never asked" })],
      { maxTurns: 2 },
    );
    expect(requests).toHaveLength(2);
    expect({ status, code: error?.code }).toEqual({ status: "error", code: "turn_limit" });
    expect(results(history)).toHaveLength(2);
  });

  test("is an empty answer, asked for once", async () => {
    for (const empty of [turn({}), turn({ text: " \n" }), turn({ thinking: "hm" }), turn({ reason: "toolUse" })]) {
      const { status, error, requests } = await run([empty]);
      expect(requests).toHaveLength(1);
      expect({ status, code: error?.code }).toEqual({ status: "error", code: "empty_answer" });
    }
  });

  const refused = new AppError("bad_request", "400: no");

  test("is a refused request, which leaves the history as it was", async () => {
    const history = [user("earlier"), assistant(["yes"])];
    const { status, error } = await run([refused], { history });
    expect(status).toBe("error");
    expect(error).toBe(refused);
    expect(outline(history)).toEqual(["user earlier", "assistant yes"]);
  });

  test("is a stream that breaks off: nothing of it stays, and no call of it runs", async () => {
    const broken = new AppError("stream_error", "cut");
    const { history, ran, status, text } = await run([
      [
        { type: "text", delta: "half" },
        { type: "toolcall_start", index: 0, id: "a", name: "bash" },
        { type: "toolcall_delta", index: 0, delta: "{}" },
        { type: "error", error: broken },
      ],
    ]);
    expect({ status, text, ran, history }).toEqual({ status: "error", text: "half", ran: [], history: [] });
  });

  test("is a failure after finished rounds, which stay", async () => {
    const { history, status } = await run([turn({ calls: [call("a")] }), refused]);
    expect(status).toBe("error");
    expect(outline(history)).toEqual(["user do it", "assistant +a", "result a ran {}"]);
  });

  test("is told in the failed message", async () => {
    const { events } = await run([refused]);
    const ended = events.findLast((event) => event.type === "message_end");
    expect(ended?.message).toMatchObject({ role: "assistant", stopReason: "error", errorMessage: "400: no" });
  });
});

describe("a failure that may pass", () => {
  const busy = new AppError("overloaded", "529: busy", { retryable: true, retryAfterMs: 0 });
  const broken: ScriptedAnswer = [
    { type: "text", delta: "half" },
    { type: "error", error: busy },
  ];

  test("is asked again; the rounds before it stay, and nothing of the failed answer does", async () => {
    const { history, status, requests, ran } = await run(
      [turn({ calls: [call("a")] }), busy, broken, turn({ text: "done" })],
      {
        maxRetries: 3,
      },
    );
    expect({ status, ran }).toEqual({ status: "done", ran: ["bash {}"] });
    expect(outline(history)).toEqual(["user do it", "assistant +a", "result a ran {}", "assistant done"]);
    expect(requests.slice(1).map(({ messages }) => outline(messages))).toEqual(
      Array(3).fill(["user do it", "assistant +a", "result a ran {}"]),
    );
  });

  test("ends its run and begins another, told as attempts", async () => {
    const { events } = await run([busy, turn({ text: "done" })], { maxRetries: 1 });
    expect(story(events)).toEqual([
      "agent_start",
      "turn_start",
      "message_start user",
      "message_end user",
      "message_start assistant",
      "message_end assistant",
      "turn_end",
      "agent_end",
      "auto_retry_start",
      "agent_start",
      "turn_start",
      "message_start assistant",
      "message_end assistant",
      "auto_retry_end",
      "turn_end",
      "agent_end",
    ]);
    expect(events.find(({ type }) => type === "auto_retry_start")).toMatchObject({
      attempt: 1,
      maxAttempts: 1,
      delayMs: 0,
      errorMessage: "529: busy",
    });
  });

  test("ends the run once the attempts are used up", async () => {
    const { status, error, requests, history } = await run([busy, busy, busy], { maxRetries: 2 });
    expect(requests).toHaveLength(3);
    expect({ status, history }).toEqual({ status: "error", history: [] });
    expect(error).toBe(busy);
  });

  test("is not asked again when it is none that passes", async () => {
    const { requests } = await run([new AppError("quota", "429: no money")], { maxRetries: 3 });
    expect(requests).toHaveLength(1);
  });

  test("can be aborted while the next attempt waits", async () => {
    const controller = new AbortController();
    const patient = new AppError("rate_limit", "429: wait", { retryable: true, retryAfterMs: 60_000 });
    const { status, requests, history, events } = await run([patient], {
      maxRetries: 3,
      signal: controller.signal,
      onEvent: (event) => event.type === "auto_retry_start" && controller.abort(),
    });
    expect({ status, history }).toEqual({ status: "aborted", history: [] });
    expect(requests).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "auto_retry_end", success: false, attempt: 1 });
  });
});

describe("an abort", () => {
  test("while the model answers keeps what it had said", async () => {
    const controller = new AbortController();
    const { status, history } = await run([hangAfter("half", () => controller.abort())], { signal: controller.signal });
    expect(status).toBe("aborted");
    expect(outline(history)).toEqual(["user do it", "assistant half"]);
  });

  test("before the model says anything leaves the history as it was", async () => {
    const { status, history } = await run([new AppError("aborted", "Request aborted")]);
    expect({ status, history }).toEqual({ status: "aborted", history: [] });
  });

  test("while a tool runs answers that call and the ones behind it", async () => {
    const controller = new AbortController();
    const stopped: FakeTool = (_args, { signal }) => {
      controller.abort();
      return { text: `stopped: ${signal.aborted}` };
    };
    const { status, history, ran, requests } = await run([turn({ calls: [call("a"), call("b", "read")] })], {
      tools: { bash: stopped, read: echo },
      signal: controller.signal,
    });
    expect(status).toBe("aborted");
    expect(requests).toHaveLength(1);
    expect(ran).toEqual(["bash {}"]);
    expect(outline(history)).toEqual([
      "user do it",
      "assistant +a +b",
      "result a stopped: true",
      "result b Error: not run: the user interrupted",
      "assistant",
    ]);
    expect(history.at(-1)).toMatchObject({ stopReason: "aborted", errorMessage: "Request aborted", content: [] });
  });

  test("lets the conversation go on", async () => {
    const controller = new AbortController();
    const history: Message[] = [];
    await run([hangAfter("half ", () => controller.abort())], { signal: controller.signal, history });
    const { status, requests } = await run([turn({ text: "ok" })], { history });
    expect(status).toBe("done");
    expect(outline(requests[0]?.messages ?? [])).toEqual(["user do it", "assistant half ", "user do it"]);
  });
});
