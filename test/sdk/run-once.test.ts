import { expect, test } from "bun:test";
import { AbortedError, ExitError, runOnce, SpawnError, TimeoutError } from "../../src/index.ts";
import { failureOf, fakeAgent } from "../helpers/fake-client.ts";

test.concurrent("a task gives its text, messages, usage, stop reason, exit code and session", async () => {
  const types: string[] = [];
  const result = await runOnce("hello", {
    command: fakeAgent("once"),
    model: "m",
    args: ["--yolo"],
    onRecord: ({ type }) => types.push(type),
    validate: true,
  });
  expect(result).toMatchObject({
    text: "5 --mode json --model m --yolo",
    stopReason: "stop",
    exitCode: 0,
    sessionId: "s1",
    stderr: "",
    error: undefined,
    aborted: false,
    usage: { totalTokens: 15 },
  });
  expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(types).toEqual(["session", "agent_start", "message_end", "message_update", "message_end", "agent_settled"]);
});

test.concurrent("a task may be longer than a command line, and begin with a dash", async () => {
  const { text } = await runOnce(`--help ${"x".repeat(1_000_000)}`, { command: fakeAgent("once") });
  expect(text).toStartWith("1000007 ");
});

test.concurrent("a run that failed is told, with its exit code", async () => {
  const result = await runOnce("x", { command: fakeAgent("once", "fails") });
  expect(result).toMatchObject({ exitCode: 1, stopReason: "error", error: { code: "error", message: "no luck" } });
});

test.concurrent("an agent that ends without a run, or cannot be started, is an error", async () => {
  const error = await failureOf(runOnce("x", { command: fakeAgent("once", "usage") }));
  expect(error).toBeInstanceOf(ExitError);
  expect(error).toMatchObject({ exitCode: 2, stderr: "error: no such flag\n" });
  expect(await failureOf(runOnce("x", { command: "no-such-agent" }))).toBeInstanceOf(SpawnError);
});

test.concurrent("a limit and a signal end the agent", async () => {
  const hanging = { command: fakeAgent("once", "hang") };
  expect(await failureOf(runOnce("x", { ...hanging, timeout: 30 }))).toBeInstanceOf(TimeoutError);
  const stop = new AbortController();
  const run = runOnce("x", { ...hanging, signal: stop.signal, onRecord: () => stop.abort() });
  expect(await failureOf(run)).toBeInstanceOf(AbortedError);
  expect(await failureOf(runOnce("x", { ...hanging, signal: stop.signal }))).toBeInstanceOf(AbortedError);
});
