// RPC mode of the compiled binary: prompts, queues, aborts, commands of the client's own, and what it answers meanwhile.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { textDelta } from "../helpers/chat-stream.ts";
import { runs } from "../helpers/process-runs.ts";
import { gate, type Reply, refusal } from "../helpers/replay-server.ts";
import { connect, type RpcClient } from "../helpers/rpc-client.ts";
import { tmp } from "../helpers/tmp.ts";

const hello: Reply = { turn: { text: "Hello." } };
const said = (text: string): Reply => ({ turn: { text } });
const bash = (command: string): Reply => ({ turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }] } });

/** The types of the events, updates of one kind folded. */
function typesOf(records: readonly { readonly type: string }[]): string[] {
  const types = records.map(({ type }) => type);
  return types.filter((type, i) => !type.endsWith("_update") || types[i - 1] !== type);
}

/** What each request's last messages were, as `role text`. */
function asked(body: { messages: { role: string; content: unknown }[] }): string[] {
  return body.messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));
}

test("a prompt is answered at once and told by events; agent_settled comes once", async () => {
  await using setup = await connect([hello]);
  const { rpc } = setup;
  const events = await rpc.prompt("hi");
  expect(rpc.records[0]).toEqual({
    id: "t1",
    type: "response",
    command: "prompt",
    success: true,
    data: { disposition: "started" },
  });
  expect(typesOf(events)).toEqual([
    "agent_start",
    "turn_start",
    ...["message_start", "message_end"],
    ...["message_start", "message_end"],
    ...["message_start", "message_update", "message_end"],
    "turn_end",
    "agent_end",
    "agent_settled",
  ]);
  expect(await rpc.ask("get_last_assistant_text")).toEqual({ text: "Hello." });
  rpc.end();
  expect(await rpc.exited).toBe(0);
  expect(rpc.stderr()).toBe("");
});

test("the last text is that of the last answer, also when that is empty; one that was refused is none", async () => {
  const thought: Reply = { turn: { reasoning: "Nothing to say." } };
  await using setup = await connect([hello, refusal(400, {}), thought]);
  const { rpc } = setup;
  expect(await rpc.ask("get_last_assistant_text")).toEqual({});
  await rpc.prompt("one");
  await rpc.prompt("two");
  expect(await rpc.ask("get_last_assistant_text")).toEqual({ text: "Hello." });
  await rpc.prompt("three");
  expect(await rpc.ask("get_last_assistant_text")).toEqual({});
});

test("images go with the prompt", async () => {
  await using setup = await connect([hello]);
  const images = [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }];
  await setup.rpc.prompt("what is this?", { images });
  expect(JSON.stringify(setup.server.requests[0]?.body)).toContain("data:image/png;base64,iVBORw0KGgo=");
});

test("everything is answered at once while a prompt runs", async () => {
  const { opened, open } = gate();
  await using setup = await connect([{ body: [textDelta("half"), opened, textDelta(" whole"), ...end] }]);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  await rpc.wait("message_update");
  expect(await rpc.ask("get_state")).toMatchObject({ isStreaming: true, isCompacting: false, pendingMessageCount: 0 });
  expect((await rpc.ask("get_messages")).messages.map(({ role }) => role)).toEqual(["system", "user"]);
  const refused = await rpc.send({ type: "prompt", message: "too early" });
  expect(refused).toMatchObject({ success: false, error: expect.stringContaining("streamingBehavior") });
  expect((await rpc.ask("bash", { command: "echo meanwhile" })).output).toBe("meanwhile\n");
  open();
  await rpc.wait("agent_settled");
  expect(await rpc.ask("get_last_assistant_text")).toEqual({ text: "half whole" });
  expect(await rpc.ask("get_state")).toMatchObject({ isStreaming: false, messageCount: 4 });
});

describe("the queue", () => {
  /** A prompt whose tool runs until `file` is there. */
  async function busy(rpc: RpcClient) {
    await rpc.ask("prompt", { message: "first" });
    await rpc.wait("tool_execution_start");
  }
  const waiting = bash("until [ -e go ]; do sleep 0.02; done");
  const go = (rpc: RpcClient) => Bun.write(`${rpc.cwd}/go`, "");

  test("steering comes behind the tools of a turn, a follow-up when the answer would be the last", async () => {
    await using setup = await connect([waiting, said("steered"), said("followed")]);
    const { rpc, server } = setup;
    await busy(rpc);
    expect(await rpc.ask("follow_up", { message: "after" })).toEqual({ disposition: "queued" });
    expect(await rpc.ask("prompt", { message: "steer me", streamingBehavior: "steer" })).toEqual({
      disposition: "queued",
    });
    expect(rpc.records.findLast(({ type }) => type === "queue_update")).toEqual({
      type: "queue_update",
      steering: ["steer me"],
      followUp: ["after"],
    });
    expect(await rpc.ask("get_state")).toMatchObject({ pendingMessageCount: 2 });
    await go(rpc);
    await rpc.wait("agent_settled");
    expect(server.requests.map(({ body }) => asked(body))).toEqual([
      ["first"],
      ["first", "steer me"],
      ["first", "steer me", "after"],
    ]);
    const updates = rpc.records
      .filter(({ type }) => type === "queue_update")
      .map(({ steering, followUp }) => [steering, followUp]);
    expect(updates.slice(2)).toEqual([
      [[], ["after"]],
      [[], []],
    ]);
    expect(rpc.records.filter(({ type }) => type === "agent_settled")).toHaveLength(1);
    expect(rpc.records.filter(({ type }) => type === "agent_start")).toHaveLength(1);
  });

  test("goes one message a time, or all at once", async () => {
    await using setup = await connect([waiting, said("1"), said("2"), said("3"), said("4"), said("5")]);
    const { rpc, server } = setup;
    await busy(rpc);
    for (const message of ["a", "b"]) await rpc.ask("follow_up", { message });
    await go(rpc);
    await rpc.wait("agent_settled");
    expect(server.requests.slice(2).map(({ body }) => asked(body).slice(1))).toEqual([["a"], ["a", "b"]]);

    await rpc.ask("set_follow_up_mode", { mode: "all" });
    expect(await rpc.ask("get_state")).toMatchObject({ followUpMode: "all", steeringMode: "one-at-a-time" });
    for (const message of ["c", "d"]) await rpc.ask("follow_up", { message });
    const from = rpc.records.length;
    await rpc.ask("prompt", { message: "more" });
    await rpc.wait("agent_settled", from);
    // What waited while nothing ran comes behind the first answer of the next prompt.
    const requests = server.requests.slice(4).map(({ body }) => asked(body).slice(3));
    expect(requests).toEqual([["more"], ["more", "c", "d"]]);
  });

  test("can be cleared, which tells what was in it", async () => {
    await using setup = await connect([waiting, hello]);
    const { rpc, server } = setup;
    await busy(rpc);
    await rpc.ask("steer", { message: "one" });
    await rpc.ask("follow_up", { message: "two" });
    expect(await rpc.ask("clear_queue")).toEqual({ steering: ["one"], followUp: ["two"] });
    await go(rpc);
    await rpc.wait("agent_settled");
    expect(server.requests).toHaveLength(2);
    expect(await rpc.ask("clear_queue")).toEqual({ steering: [], followUp: [] });
  });

  test("stays after an abort, and goes with the next prompt", async () => {
    await using setup = await connect([waiting, said("one"), said("two")]);
    const { rpc, server } = setup;
    await busy(rpc);
    await rpc.ask("follow_up", { message: "later" });
    await rpc.ask("abort");
    expect(await rpc.ask("get_state")).toMatchObject({ isStreaming: false, pendingMessageCount: 1 });
    await rpc.prompt("next");
    expect(server.requests.map(({ body }) => asked(body))).toEqual([
      ["first"],
      ["first", "next"],
      ["first", "next", "later"],
    ]);
  });

  test("has its turn behind a compaction, unless that is aborted", async () => {
    const long = "x".repeat(100_000);
    await using setup = await connect([hello, hello, { body: [gate().opened] }, said("the summary"), said("well")]);
    const { rpc, server } = setup;
    await rpc.prompt(long);
    await rpc.prompt(long);
    const aborted = rpc.send({ type: "compact" });
    await server.request(2);
    await rpc.ask("prompt", { message: "one", streamingBehavior: "followUp" });
    await rpc.ask("abort");
    expect(await aborted).toMatchObject({ success: false });
    expect(await rpc.ask("get_state")).toMatchObject({ isStreaming: false, pendingMessageCount: 1 });
    await rpc.ask("clear_queue");

    const from = rpc.records.length;
    const compacted = rpc.send({ type: "compact" });
    await rpc.ask("prompt", { message: "two", streamingBehavior: "followUp" });
    expect(await compacted).toMatchObject({ success: true });
    await rpc.wait("agent_settled", from);
    expect(asked(server.requests[4]?.body).at(-1)).toBe("two");
    expect(server.requests).toHaveLength(5);
  });

  test("is worked off in a further run when a run failed", async () => {
    const { opened, open } = gate();
    const fails: Reply = { body: [opened, 'data: {"error":{"message":"bad thing","code":400}}\n\n'] };
    await using setup = await connect([fails, said("well")]);
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "first" });
    await setup.server.request(0);
    await rpc.ask("follow_up", { message: "again" });
    open();
    const settled = await rpc.wait("agent_settled");
    expect(settled).toEqual({ type: "agent_settled", aborted: false });
    expect(rpc.records.filter(({ type }) => type === "agent_start")).toHaveLength(2);
    expect(await rpc.ask("get_last_assistant_text")).toEqual({ text: "well" });
  });
});

const end = ['data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', "data: [DONE]\n\n"];

describe("an abort", () => {
  test("in the middle of a tool ends it with all its children, and the prompt with one agent_settled", async () => {
    await using dir = tmp();
    await using setup = await connect([bash("echo $$ > pid; echo begun; sleep 300 | cat"), hello], { cwd: dir.path });
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "run" });
    await rpc.wait((record) => JSON.stringify(record).includes('"begun\\n"'));
    const from = rpc.records.length;
    await rpc.ask("abort");
    const events = rpc.records.slice(from);
    expect(typesOf(events)).toEqual([
      "tool_execution_end",
      ...["message_start", "message_end"],
      "turn_end",
      "turn_start",
      ...["message_start", "message_end"],
      "turn_end",
      "agent_end",
      "agent_settled",
      "response",
    ]);
    expect(events.at(-2)).toEqual({ type: "agent_settled", aborted: true });
    expect(runs(dir.file("pid"))).toBe(false);
    expect(await rpc.ask("get_state")).toMatchObject({ isStreaming: false, messageCount: 5 });
    await rpc.prompt("go on");
    expect(await rpc.ask("get_last_assistant_text")).toEqual({ text: "Hello." });
  });

  test("in the middle of an answer closes its connection", async () => {
    const { opened } = gate();
    await using setup = await connect([{ body: [textDelta("half"), opened] }]);
    const { rpc, server } = setup;
    await rpc.ask("prompt", { message: "hi" });
    await rpc.wait("message_update");
    await rpc.ask("abort");
    await server.requests[0]?.closed;
    expect(rpc.records.filter(({ type }) => type === "agent_settled")).toEqual([
      { type: "agent_settled", aborted: true },
    ]);
  });

  test("when nothing runs is answered, with no event", async () => {
    await using setup = await connect([]);
    await setup.rpc.ask("abort");
    expect(setup.rpc.records).toHaveLength(1);
  });

  test("right behind the prompt, in one write", async () => {
    const { opened } = gate();
    await using setup = await connect(() => ({ body: [opened] }));
    const { rpc } = setup;
    rpc.write('{"id":"a","type":"prompt","message":"hi"}\n{"id":"b","type":"abort"}\n{"id":"c","type":"get_state"}');
    await rpc.wait(({ id }) => id === "b");
    expect(rpc.records.filter(({ type }) => type === "agent_settled")).toEqual([
      { type: "agent_settled", aborted: true },
    ]);
    expect(rpc.records.find(({ id }) => id === "c")).toMatchObject({ success: true });
  });
});

describe("retries", () => {
  const busy = refusal(503, { error: { message: "busy" } });

  test("can be switched off, and the wait for one given up", async () => {
    await using setup = await connect([busy, busy, hello]);
    const { rpc, server } = setup;
    await rpc.ask("set_auto_retry", { enabled: false });
    const [settled] = (await rpc.prompt("hi")).slice(-1);
    expect(settled).toMatchObject({ error: { message: expect.stringContaining("busy") } });
    expect(server.requests).toHaveLength(1);

    await rpc.ask("set_auto_retry", { enabled: true });
    await rpc.ask("prompt", { message: "again" });
    const from = rpc.records.length;
    await rpc.wait("auto_retry_start");
    await rpc.ask("abort_retry");
    await rpc.wait("agent_settled", from);
    expect(rpc.records.findLast(({ type }) => type === "auto_retry_end")).toMatchObject({ success: false, attempt: 1 });
    expect(server.requests).toHaveLength(2);
    await rpc.prompt("once more");
    expect(await rpc.ask("get_last_assistant_text")).toEqual({ text: "Hello." });
  });

  test("take the failed answer out of what follows, and say so", async () => {
    await using setup = await connect([refusal(503, { error: { message: "busy" } }, { "retry-after": "0" }), hello]);
    const events = await setup.rpc.prompt("hi");
    const types = typesOf(events);
    expect(types.slice(types.indexOf("auto_retry_start"), types.indexOf("auto_retry_start") + 3)).toEqual([
      "auto_retry_start",
      "entry_appended",
      "agent_start",
    ]);
    expect(types.filter((type) => type === "agent_settled")).toHaveLength(1);
  });
});

describe("a command of the client's", () => {
  test("streams its output, and the model hears of it with the next prompt unless it is excluded", async () => {
    await using setup = await connect([hello]);
    const { rpc, server } = setup;
    expect(await rpc.ask("bash", { command: "echo one; echo two >&2; exit 3" })).toEqual({
      output: "one\ntwo\n",
      exitCode: 3,
      cancelled: false,
      truncated: false,
    });
    const updates = rpc.records.filter(({ type, id }) => type === "bash_execution_update" && id === "t1");
    expect(updates.map(({ delta }) => delta).join("")).toBe("one\ntwo\n");
    await rpc.ask("bash", { command: "echo unmentioned", excludeFromContext: true });
    const { messages } = await rpc.ask("get_messages");
    expect(messages).toEqual([
      expect.objectContaining({ role: "bashExecution", command: "echo one; echo two >&2; exit 3", exitCode: 3 }),
      expect.objectContaining({ role: "bashExecution", output: "unmentioned\n", excludeFromContext: true }),
    ]);
    expect(server.requests).toHaveLength(0);
    await rpc.prompt("what was that?");
    const text = server.requests[0]?.text ?? "";
    expect(text).toContain("one\\ntwo");
    expect(text).not.toContain("unmentioned");
  });

  test("that prints much is cut, and whole in a file", async () => {
    await using setup = await connect([]);
    const { rpc } = setup;
    const result = await rpc.ask("bash", { command: "seq 1 60000" });
    expect([result.truncated, result.exitCode]).toEqual([true, 0]);
    const whole = Array.from({ length: 60000 }, (_, i) => `${i + 1}\n`).join("");
    expect(readFileSync(result.fullOutputPath ?? "", "utf8")).toBe(whole);
    const deltas = rpc.records.filter(({ type }) => type === "bash_execution_update").map(({ delta }) => delta);
    expect(deltas.join("")).toBe(whole);
  });

  test.each(["abort_bash", "abort"] as const)("is ended by %s at once", async (command) => {
    await using dir = tmp();
    await using setup = await connect([], { cwd: dir.path });
    const { rpc } = setup;
    const running = rpc.ask("bash", { command: "echo $$ > pid; echo begun; sleep 999" });
    await rpc.wait("bash_execution_update");
    await rpc.ask(command);
    expect(await running).toEqual({ output: "begun\n", cancelled: true, truncated: false });
    expect(runs(dir.file("pid"))).toBe(false);
  });

  test("while a prompt runs is recorded behind it", async () => {
    const { opened, open } = gate();
    await using setup = await connect([{ body: [textDelta("a"), opened, ...end] }]);
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "hi" });
    await rpc.wait("message_update");
    await rpc.ask("bash", { command: "echo meanwhile" });
    open();
    await rpc.wait("agent_settled");
    const { messages } = await rpc.ask("get_messages");
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "bashExecution"]);
  });
});

test("compacting counts as running from its command on", async () => {
  await using setup = await connect([]);
  const { rpc } = setup;
  rpc.writeRaw(Buffer.from('{"id":"c","type":"compact"}\n{"id":"s","type":"get_state"}\n'));
  const state = await rpc.wait(({ id }) => id === "s");
  expect(state).toMatchObject({ data: { isCompacting: true, isStreaming: false } });
  expect(await rpc.wait(({ id }) => id === "c")).toMatchObject({ success: false });
  expect(rpc.records.flatMap(({ id }) => id ?? [])).toEqual(["s", "c"]);
  expect(await rpc.ask("get_state")).toMatchObject({ isCompacting: false });
});

test("compacting is told, can be asked for with wishes, and its failure is the command's", async () => {
  await using setup = await connect([hello]);
  const { rpc } = setup;
  const answer = await rpc.send({ type: "compact" });
  expect(answer).toMatchObject({ success: false, error: expect.stringContaining("Nothing to compact") });
  expect(rpc.records.map(({ type }) => type)).toEqual(["compaction_start", "compaction_end", "response"]);
  await rpc.ask("set_auto_compaction", { enabled: false });
  expect(await rpc.ask("get_state")).toMatchObject({ autoCompactionEnabled: false });
});
