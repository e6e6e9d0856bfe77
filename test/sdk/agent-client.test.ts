import { expect, test } from "bun:test";
import {
  AbortedError,
  AgentClient,
  ClosedError,
  CommandError,
  ExitError,
  ProtocolError,
  type ReceivedRecord,
  type RpcCommandName,
  rpcCommands,
  SpawnError,
  TimeoutError,
} from "../../src/index.ts";
import { failureOf, isAlive, startFake } from "../helpers/fake-client.ts";
import { waitUntil } from "../helpers/wait-until.ts";

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

test("every command has a method by its name", () => {
  // A command without one does not compile.
  const methods: Record<CamelCase<RpcCommandName>, unknown> = AgentClient.prototype;
  for (const name of Object.keys(rpcCommands)) {
    const method = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    expect(methods[method as keyof typeof methods]).toBeInstanceOf(Function);
  }
});

test.concurrent("answers find their commands, however many are on their way", async () => {
  await using client = await startFake("well");
  const commands = Array.from({ length: 100 }, (_, i) => client.raw({ type: "levitate", height: i }));
  expect(await Promise.all(commands)).toEqual(Array.from({ length: 100 }, (_, height) => ({ height })));
});

test.concurrent("provider, model and further flags are passed on, and the environment is that of the program with changes", async () => {
  await using client = await startFake("well", "", { provider: "p", model: "m:high", args: ["--yolo"] });
  const { argv } = (await client.getState()) as unknown as { argv: string[] };
  expect(argv.slice(4)).toEqual(["--mode", "rpc", "--provider", "p", "--model", "m:high", "--yolo"]);
});

test.concurrent("a command that the agent refuses fails with the agent's words, its name and its id", async () => {
  await using client = await startFake("well");
  const error = await failureOf(client.raw({ type: "fly", id: "mine" }));
  expect(error).toBeInstanceOf(CommandError);
  expect(error).toMatchObject({ code: "command", command: "fly", id: "mine", message: "Unknown command: fly" });
});

test.concurrent("a second command with the id of one that waits is not sent", async () => {
  await using client = await startFake("hang");
  const first = client.raw({ type: "x", id: "1" });
  expect(await failureOf(client.raw({ type: "y", id: "1" }))).toBeInstanceOf(CommandError);
  await Promise.all([client.close(), failureOf(first)]);
});

test.concurrent.each([
  [
    "a program that is not there",
    { command: "no-such-agent" },
    "no-such-agent could not be started: there is no such program",
  ],
  ["a folder that is not there", { cwd: "/no/such/folder" }, "there is no folder /no/such/folder"],
  ["a file that may not be run", { command: import.meta.path }, "it may not be run"],
  ["no program at all", { command: [] }, "could not be started"],
])("%s fails to start", async (_, options, message) => {
  const error = await failureOf(AgentClient.start({ command: process.execPath, ...options }));
  expect(error).toBeInstanceOf(SpawnError);
  expect((error as SpawnError).code).toBe("spawn");
  expect((error as SpawnError).message).toContain(message);
});

test.concurrent("when the process dies, everything that waits fails at once, with the end of stderr", async () => {
  await using client = await startFake("die");
  const waiting = [client.raw({ type: "a" }), client.getMessages(), client.bash("x"), client.prompt("hi")];
  const results = await Promise.allSettled(waiting);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "fulfilled"]);
  const error = (results[0] as PromiseRejectedResult).reason;
  expect(error).toBeInstanceOf(ExitError);
  expect(error).toMatchObject({
    code: "exit",
    exitCode: null,
    signal: "SIGKILL",
    stderr: "it is over\nkilled by itself\n",
  });
  expect(error.message).toBe("The agent has ended by SIGKILL: killed by itself");
  // What comes later is told the same.
  expect(await failureOf(client.getState())).toBeInstanceOf(ExitError);
});

test.concurrent("an exit by itself is told with its code", async () => {
  await using client = await startFake("exit");
  expect(await failureOf(client.getState())).toMatchObject({ code: "exit", exitCode: 3, signal: null });
});

test.concurrent.each(["", "detached"])(
  "a child of the agent's that holds its output open delays nothing (%p)",
  async (detail) => {
    await using client = await startFake("die-held", detail);
    const begun = performance.now();
    const waiting = client.raw({ type: "a" });
    await client.prompt("hi").catch(() => {});
    expect(await failureOf(waiting)).toBeInstanceOf(ExitError);
    // Far below the 30 s that it lives, and below every timer of the client's.
    expect(performance.now() - begun).toBeLessThan(5000);
    await client.close();
  },
);

test.concurrent.each([
  ["no JSON", "Welcome to the agent!", "A line is not JSON: Welcome to the agent!"],
  ["no object", "[1,2]", "A line is no JSON object: [1,2]"],
])("a line that is %s ends the client, with the line in the error", async (_, line, message) => {
  await using client = await startFake("garbage", line);
  const error = await failureOf(client.getState());
  expect(error).toBeInstanceOf(ProtocolError);
  expect(error).toMatchObject({ code: "protocol", line, message });
  expect(await failureOf(client.getState())).toBe(error);
  await waitUntil(() => !isAlive(client.pid), "the process has ended");
});

test.concurrent("with a listener for such lines they are passed over", async () => {
  const errors: ProtocolError[] = [];
  await using client = await startFake("garbage", "Welcome!", { onProtocolError: (error) => errors.push(error) });
  expect(await client.raw({ type: "x" })).toEqual({ text: "after" });
  expect(errors.map(({ line }) => line)).toEqual(["Welcome!"]);
});

test.concurrent("a line that is too long, or no UTF-8, is an error and not a full memory", async () => {
  await using long = await startFake("long-line", "", { maxLineBytes: 1_000_000 });
  expect(await failureOf(long.getState())).toMatchObject({
    code: "protocol",
    line: "",
    message: "A line of 3000000 bytes is longer than the 1000000 that are read",
  });
  await using bad = await startFake("bad-utf8");
  expect(await failureOf(bad.getState())).toMatchObject({ code: "protocol", line: '"\ufffd("' });
});

test.concurrent.each(["split", "unended"])("an answer reads the same when it comes as %s", async (behaviour) => {
  await using client = await startFake(behaviour);
  expect(await client.raw({ type: "x" })).toEqual({ text: "\u2028 é € 😀 \u2029 \u0085" });
});

test.concurrent("a command that is not answered in time fails, also where only that one has a limit", async () => {
  await using client = await startFake("hang", "", { timeout: 30 });
  const error = await failureOf(client.getState());
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ code: "timeout", command: "get_state", timeoutMs: 30 });
  expect((error as TimeoutError).id).not.toBe("");
  expect(await failureOf(client.getState({ timeout: 10 }))).toMatchObject({ timeoutMs: 10 });
  await using patient = await startFake("well", "", { timeout: Number.POSITIVE_INFINITY });
  expect(await patient.raw({ type: "levitate", height: 1 }, { timeout: 2 ** 40 })).toEqual({ height: 1 });
  // What is answered when its work is done has no limit but its own.
  expect(await failureOf(client.bash("x", { timeout: 10 }))).toMatchObject({ command: "bash", timeoutMs: 10 });
});

test.concurrent("a signal ends the waiting, and keeps a command from being sent", async () => {
  await using client = await startFake("hang");
  const stop = new AbortController();
  const waiting = client.getState({ signal: stop.signal });
  stop.abort(new Error("enough"));
  const error = await failureOf(waiting);
  expect(error).toBeInstanceOf(AbortedError);
  expect((error as AbortedError).cause).toEqual(new Error("enough"));
  expect(await failureOf(client.getState({ signal: stop.signal }))).toBeInstanceOf(AbortedError);
});

test.concurrent("close ends what waits at once, the process and its group, and may come again", async () => {
  await using client = await startFake("stubborn");
  await client.getState();
  const waiting = failureOf(client.getMessages());
  const closing = client.close();
  const error = await waiting;
  expect(error).toBeInstanceOf(ClosedError);
  expect((error as ClosedError).message).toBe("The client was closed before this was done");
  expect(isAlive(client.pid)).toBe(true);
  await Promise.all([closing, client.close()]);
  expect(isAlive(client.pid)).toBe(false);
  expect(await failureOf(client.getState())).toBeInstanceOf(ClosedError);
}, 10_000);

test.concurrent("another client can be started after the first is closed", async () => {
  await using first = await startFake("well");
  await first.close();
  await using second = await startFake("well");
  expect((await second.getState()).messageCount).toBe(1);
  expect(second.pid).not.toBe(first.pid);
});

test.concurrent("a client at the end of its scope is closed", async () => {
  let pid = 0;
  {
    await using client = await startFake("well");
    pid = client.pid;
    await client.getState();
  }
  expect(isAlive(pid)).toBe(false);
});

test.concurrent("the output of a command of the client's own is heard as it comes", async () => {
  await using client = await startFake("bash");
  const heard: string[] = [];
  const other: string[] = [];
  const [result] = await Promise.all([
    client.bash("x", { onOutput: (text) => heard.push(text) }),
    client.bash("y", { onOutput: (text) => other.push(text) }),
  ]);
  expect(result).toEqual({ output: "one\ntwo\n", exitCode: 0, cancelled: false, truncated: false });
  expect([heard, other]).toEqual([
    ["one\n", "two\n"],
    ["one\n", "two\n"],
  ]);
});

test.concurrent("a signal ends the command of the client's own in the agent too", async () => {
  await using client = await startFake("bash");
  const stop = new AbortController();
  const heard: ReceivedRecord[] = [];
  client.subscribe((record) => heard.push(record));
  const waiting = client.bash("wait", { signal: stop.signal, onOutput: () => stop.abort() });
  expect(await failureOf(waiting)).toBeInstanceOf(AbortedError);
  // The agent has had the command to end it when it answers the next one.
  await client.getState();
  await client.close();
  expect(heard.map(({ type }) => type)).toEqual(["bash_execution_update", "bash_execution_update"]);
});

test.concurrent("subscribers hear everything but answers, unknown records whole, until they end it", async () => {
  await using client = await startFake("newer");
  const heard: ReceivedRecord[] = [];
  const stop = client.subscribe((record) => heard.push(record));
  await client.run("hi").outcome();
  expect(heard.map(({ type }) => type)).toEqual(["agent_start", "unknown", "message_end", "agent_settled"]);
  expect(heard[1]).toEqual({ type: "unknown", raw: { type: "dream", of: "sheep" } });
  expect(heard[2]).toMatchObject({
    message: { role: "assistant", content: [{ type: "unknown", raw: { type: "smell", of: "roses" } }] },
  });
  stop();
  await client.run("hi").outcome();
  expect(heard.length).toBe(4);
});

const confirm = { method: "confirm", title: "Run?", message: "rm x" };
const select = { method: "select", title: "Which?", options: ["a", "b"] };
const input = { method: "input", title: "Name?" };

test.concurrent.each<[object, boolean | string | undefined | "throw", object]>([
  [confirm, true, { confirmed: true }],
  [confirm, false, { confirmed: false }],
  [confirm, undefined, { cancelled: true }],
  [confirm, "yes", { cancelled: true }],
  [select, "b", { value: "b" }],
  [select, "c", { cancelled: true }],
  [select, true, { cancelled: true }],
  [input, "Ada", { value: "Ada" }],
  [{ method: "select", title: "Which?" }, "a", { cancelled: true }],
  [{ method: "multi_select", title: "Which?", options: ["a", "b"] }, "a", { cancelled: true }],
])("the question %j answered with %p becomes %j", async (question, answer, said) => {
  await using client = await startFake("asks", JSON.stringify(question));
  client.onApproval(async (request) => {
    expect(request).toMatchObject(question);
    return answer;
  });
  expect(JSON.parse(await client.run("hi").text())).toEqual({ id: "q1", ...said });
});

test.concurrent("an answer to a question can be sent as any command, and is not waited for", async () => {
  await using client = await startFake("asks", JSON.stringify({ method: "notify", message: "What now?" }));
  const run = client.run("hi");
  for await (const _ of run) break;
  expect(await client.raw({ type: "extension_ui_response", id: "q1", value: "this" })).toBeUndefined();
  expect(JSON.parse(await run.text())).toEqual({ id: "q1", value: "this" });
});

test.concurrent("what is no JSON is not sent, and the next command is", async () => {
  await using client = await startFake("well");
  const image = { type: "image" as const, data: 1n as unknown as string, mimeType: "image/png" };
  expect(await failureOf(client.raw({ type: "levitate", id: "a", height: 1n }))).toMatchObject({
    code: "command",
    id: "a",
    message: expect.stringContaining("It cannot be sent as JSON"),
  });
  expect(await failureOf(client.run("x", { images: [image] }).text())).toMatchObject({ command: "prompt" });
  expect(await client.raw({ type: "levitate", id: "a", height: 2 })).toEqual({ height: 2 });
});

test.concurrent("without a function for them, or after it was taken away, questions are cancelled", async () => {
  await using client = await startFake("asks", JSON.stringify(confirm));
  expect(JSON.parse(await client.run("hi").text())).toEqual({ id: "q1", cancelled: true });
  const takeAway = client.onApproval(() => true);
  expect(JSON.parse(await client.run("hi").text())).toEqual({ id: "q1", confirmed: true });
  takeAway();
  expect(JSON.parse(await client.run("hi").text())).toEqual({ id: "q1", cancelled: true });
});

test.concurrent.each(["", "null", '{"messages":null}', "[]"])(
  "an answer of %j has no messages, which is told",
  async (data) => {
    await using client = await startFake("well", data);
    expect(await failureOf(client.getMessages())).toMatchObject({ code: "protocol", line: data });
  },
);

test.concurrent("with validation a record that lacks what its type promises is a protocol error", async () => {
  await using client = await startFake("well", "", { validate: true });
  const error = await failureOf(client.getState());
  expect(error).toBeInstanceOf(ProtocolError);
  expect((error as ProtocolError).message).toContain("'data.thinkingLevel' has a value that is not possible");
});
