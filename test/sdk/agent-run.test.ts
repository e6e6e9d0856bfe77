import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  AbortedError,
  CommandError,
  ExitError,
  OverflowError,
  type ReceivedEvent,
  RunFailedError,
} from "../../src/index.ts";
import { failureOf, startFake } from "../helpers/fake-client.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const types = (events: readonly ReceivedEvent[]) => events.map(({ type }) => type);

async function all(run: AsyncIterable<ReceivedEvent>): Promise<ReceivedEvent[]> {
  const events: ReceivedEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

test.concurrent("a run gives its events until it has settled, and then its text, messages and usage", async () => {
  await using client = await startFake("well");
  const run = client.run("hello");
  expect(types(await all(run))).toEqual([
    "agent_start",
    "message_end",
    "message_update",
    "message_end",
    "agent_settled",
  ]);
  expect(await run.text()).toBe("hello");
  expect((await run.messages()).map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect((await run.usage()).totalTokens).toBe(15);
  expect(await run.outcome()).toMatchObject({
    disposition: "started",
    stopReason: "stop",
    aborted: false,
    error: undefined,
    deniedCalls: [],
    usage: { cost: { total: 0.5 } },
  });
});

test.concurrent("the text alone can be asked for, before, beside and after a loop; one run follows the other", async () => {
  await using client = await startFake("well");
  expect(await client.run("alone").text()).toBe("alone");
  const run = client.run("beside");
  const text = run.text();
  expect((await all(run)).length).toBe(5);
  expect(await text).toBe("beside");
});

test.concurrent("once they were not kept, the events of a run cannot be iterated", async () => {
  await using client = await startFake("well");
  const run = client.run("x");
  await run.text();
  expect(() => run[Symbol.asyncIterator]()).toThrow("are there once");
});

test.concurrent("a loop that is left lets the run go on", async () => {
  await using client = await startFake("well");
  const run = client.run("x");
  for await (const { type } of run) if (type === "agent_start") break;
  expect(await run.text()).toBe("x");
});

test.concurrent("a message that was handled at once has no events and is not waited for", async () => {
  await using client = await startFake("handled");
  const run = client.run("/x");
  expect(await all(run)).toEqual([]);
  expect(await run.text()).toBe("");
  expect((await run.outcome()).disposition).toBe("handled");
  expect(await client.prompt("/x")).toBe("handled");
});

test.concurrent("an agent that does not tell what became of a message has started a run", async () => {
  await using client = await startFake("old");
  expect(types(await all(client.run("x")))).toEqual(["agent_start", "message_end", "agent_settled"]);
  expect(await client.run("x").text()).toBe("old");
  expect(await client.prompt("x")).toBe("started");
});

test.concurrent("the end of an earlier run is not taken for that of the next", async () => {
  await using client = await startFake("late");
  const run = client.run("x");
  expect(types(await all(run))).toEqual([
    "agent_start",
    "message_end",
    "message_update",
    "message_end",
    "agent_settled",
  ]);
  expect(await run.text()).toBe("now");
  expect((await run.messages()).length).toBe(2);
});

test.concurrent("a refused message is the run's error, in the loop and in its methods", async () => {
  await using client = await startFake("ends", "no JSON, so that it dies");
  const run = client.run("x");
  expect(await failureOf(all(run))).toBeInstanceOf(ExitError);
  expect(await failureOf(run.usage())).toBeInstanceOf(ExitError);
  await using polite = await startFake("refuses");
  const refused = polite.run("x");
  expect(await failureOf(all(refused))).toBeInstanceOf(CommandError);
  expect(await failureOf(refused.text())).toMatchObject({ command: "prompt", message: "not now" });
});

test.concurrent.each([
  [
    { stopReason: "error", errorMessage: "no luck" },
    { reason: "error", message: "no luck" },
  ],
  [{ stopReason: "length" }, { reason: "length", message: "The answer was cut off by the output limit" }],
  [
    { stopReason: "aborted", settled: { aborted: true } },
    { reason: "aborted", message: "The run was aborted" },
  ],
  [
    { stopReason: "stop", settled: { error: { code: "turn_limit", message: "too many turns", hint: "ask for less" } } },
    { reason: "turn_limit", message: "too many turns", hint: "ask for less" },
  ],
])("a run that ends with %j has no text but an error, and everything else all the same", async (end, error) => {
  await using client = await startFake("ends", JSON.stringify(end));
  const run = client.run("x");
  expect((await all(run)).length).toBe(3);
  const failure = await failureOf(run.text());
  expect(failure).toBeInstanceOf(RunFailedError);
  expect(failure).toMatchObject({ code: "run", text: "half", ...error });
  const { reason: code, ...rest } = error;
  expect((await run.outcome()).error).toEqual({ code, ...rest });
  expect((await run.messages()).length).toBe(1);
});

test.concurrent("when the process dies, the loop gets every event that was written, then the error", async () => {
  await using client = await startFake("die");
  const run = client.run("x");
  const events: ReceivedEvent[] = [];
  const error = await failureOf(
    (async () => {
      for await (const event of run) events.push(event);
    })(),
  );
  expect(error).toBeInstanceOf(ExitError);
  expect(events.length).toBe(201);
  expect(await failureOf(run.text())).toBe(error);
});

test.concurrent("a signal ends the loop at once and the run in the agent; the next message waits until that is done", async () => {
  await using client = await startFake("hang-run");
  const stop = new AbortController();
  const events: string[] = [];
  client.subscribe(({ type }) => events.push(type));
  const run = client.run("x", { signal: stop.signal });
  const error = await failureOf(
    (async () => {
      for await (const { type } of run) if (type === "agent_start") stop.abort("enough");
    })(),
  );
  expect(error).toBeInstanceOf(AbortedError);
  expect((error as AbortedError).cause).toBe("enough");
  expect(await client.prompt("y")).toBe("started");
  await waitUntil(() => events.length === 3, "the next run has begun");
  expect(events).toEqual(["agent_start", "agent_settled", "agent_start"]);
  expect(await failureOf(client.run("z", { signal: AbortSignal.abort() }).text())).toBeInstanceOf(AbortedError);
});

test.concurrent("behind an abort that the agent does not answer, a message has its limit and its signal all the same, and is not sent", async () => {
  await using client = await startFake("hang-abort");
  const stop = new AbortController();
  const run = client.run("x", { signal: stop.signal });
  for await (const _ of run) break;
  stop.abort();
  expect(await failureOf(run.text())).toBeInstanceOf(AbortedError);
  expect(await failureOf(client.prompt("y", { timeout: 20 }))).toMatchObject({ code: "timeout", command: "prompt" });
  expect(await failureOf(client.run("y", { timeout: 20 }).text())).toMatchObject({ code: "timeout" });
  for (const send of [client.prompt.bind(client), (text: string, call: object) => client.run(text, call).text()]) {
    const end = new AbortController();
    const waiting = failureOf(send("y", { signal: end.signal }));
    end.abort();
    expect(await waiting).toBeInstanceOf(AbortedError);
  }
  expect(await client.raw({ type: "heard" })).toEqual(["prompt", "abort", "heard"]);
});

const broken = [
  { type: "message_end" },
  { type: "message_end", message: null },
  { type: "message_end", message: { role: "assistant", content: [] } },
  { type: "message_end", message: { role: "assistant", content: "text", usage: {} } },
].map((record) => JSON.stringify(record));

test.concurrent.each(broken)(
  "the record %s ends the run, with its line in the error; with a listener it is passed over",
  async (line) => {
    await using client = await startFake("says", line);
    expect(await failureOf(client.run("x").outcome())).toMatchObject({ code: "protocol", line });
    const lines: string[] = [];
    await using patient = await startFake("says", line, { onProtocolError: (error) => lines.push(error.line) });
    const { text, messages } = await patient.run("x").outcome();
    expect([text, messages.length, lines]).toEqual(["after", 2, [line]]);
  },
);

/** What the loop has not taken yet, waited for until the agent itself waits. */
async function standstill(client: { pid: number }): Promise<number> {
  let before = -1;
  let now = written(client.pid);
  await waitUntil(
    async () => {
      if (now === before) return true;
      before = now;
      await Bun.sleep(150);
      now = written(client.pid);
      return false;
    },
    "the agent waits",
    15_000,
  );
  return now;
}

/** Bytes that a process has written, by /proc/<pid>/io (proc(5)). */
function written(pid: number): number {
  return Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

const onLinux = process.platform === "linux" ? test : test.skip;

onLinux(
  "a loop that does not take events makes the agent wait, and goes on where it was",
  async () => {
    await using client = await startFake("flood", "", { maxUnreadBytes: 200_000 });
    const loop = client.run("x")[Symbol.asyncIterator]();
    await loop.next();
    const bytes = await standstill(client);
    expect(bytes).toBeGreaterThan(200_000);
    expect(bytes).toBeLessThan(2_000_000);
    for (let i = 0; i < 3000; i++) await loop.next();
    expect(await standstill(client)).toBeGreaterThan(bytes + 2_000_000);
  },
  20_000,
);

onLinux(
  "a command is answered although a loop does not take the events before its answer",
  async () => {
    await using client = await startFake("flood", "", { maxUnreadBytes: 200_000 });
    const loop = client.run("x")[Symbol.asyncIterator]();
    await loop.next();
    await standstill(client);
    expect((await client.getState()).messageCount).toBe(1);
    const bytes = await standstill(client);
    expect(bytes).toBeLessThan(20_000_000);
  },
  20_000,
);

onLinux(
  "a loop that is slower than what a waiting command can wait for gets an error, and no memory is filled",
  async () => {
    await using client = await startFake("flood", "", { maxUnreadBytes: 50_000 });
    const loop = client.run("x")[Symbol.asyncIterator]();
    await loop.next();
    // Is never answered, so that reading goes on.
    const waiting = failureOf(client.raw({ type: "ignored" }));
    const error = await failureOf(
      (async () => {
        for (;;) {
          // The event loop turns, and brings more than is taken.
          await new Promise((resolve) => setImmediate(resolve));
          await loop.next();
        }
      })(),
    );
    expect(error).toBeInstanceOf(OverflowError);
    await client.close();
    await waiting;
  },
  20_000,
);
