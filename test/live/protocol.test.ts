// One suite for the SDK over both programs that speak its protocol: what it relies on is the same in each. What tools did is looked up on the
// disk and in what the provider was sent, not in what the agent tells.
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import {
  type AgentClient,
  buildContext,
  CommandError,
  readSession,
  readSessionHeader,
  runOnce,
} from "../../src/index.ts";
import { type ObedientModel, startObedientModel } from "../helpers/obedient-model.ts";
import { runs } from "../helpers/process-runs.ts";
import type { TmpDir } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";
import { type Agent, models, type Program, programs, startAgent } from "./programs.ts";

setDefaultTimeout(20_000);

for (const program of programs) {
  if (program.missing) console.log(`the live tests of ${program.name} are skipped: ${program.missing}`);
  describe.skipIf(program.missing !== undefined)(program.name, () => suite(program));
}

function suite(program: Program): void {
  let server: ObedientModel;
  let agent: Agent;
  let client: AgentClient;
  let cwd: TmpDir;

  beforeAll(async () => {
    server = await startObedientModel();
    agent = await startAgent(program, server);
    ({ client, cwd } = agent);
    // The real pi takes its time to begin.
    await client.getState();
  });
  beforeEach(async () => {
    await client.newSession();
    await client.setModel("mock", models[0] as string);
  });
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    expect(server?.problems).toEqual([]);
  });

  /** What the user said, as far as the conversation has it. */
  async function saidByUser(): Promise<string[]> {
    const messages = await client.getMessages();
    return messages.flatMap((message) => {
      if (message.role !== "user") return [];
      const blocks = typeof message.content === "string" ? [] : message.content;
      return blocks.map((block) => (block.type === "text" ? block.text : block.type));
    });
  }

  /** A run whose answer has begun and is held until it is released. */
  async function waitingRun() {
    const asked = server.requests.length;
    const run = client.run("wait");
    return { run, request: await server.request(asked) };
  }

  test("the state is that of a new session, and counts what is said in it", async () => {
    const before = await client.getState();
    expect(before).toMatchObject({
      model: { provider: "mock", id: "first", api: "openai-completions", baseUrl: server.url, contextWindow: 100_000 },
      isStreaming: false,
      isCompacting: false,
      steeringMode: "one-at-a-time",
      followUpMode: "one-at-a-time",
      autoCompactionEnabled: true,
      pendingMessageCount: 0,
    });
    expect(await saidByUser()).toEqual([]);

    const run = client.run("hello");
    expect(await run.text()).toBe("You said: hello");
    expect(await run.usage()).toMatchObject({ input: 1000, output: 100, totalTokens: 1100 });
    const after = await client.getState();
    expect(after.sessionId).toBe(before.sessionId);
    expect(after.messageCount).toBe((await client.getMessages()).length);
    expect(await client.getLastAssistantText()).toBe("You said: hello");
    expect(await saidByUser()).toEqual(["hello"]);
  });

  test("an answer arrives in pieces between the start and the end of its message, and the run ends with agent_settled", async () => {
    const types: string[] = [];
    let text = "";
    for await (const event of client.run("one two three")) {
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
        text += event.assistantMessageEvent.delta;
      }
      if (types.at(-1) !== event.type) types.push(event.type);
    }
    expect(text).toBe("You said: one two three");
    expect(types.at(0)).toBe("agent_start");
    expect(types.slice(-5)).toEqual(["message_update", "message_end", "turn_end", "agent_end", "agent_settled"]);
  });

  test("the catalog has the configured models, one can be chosen, and an unknown one is refused", async () => {
    const catalog = await client.getAvailableModels();
    expect(catalog.filter(({ provider }) => provider === "mock").map(({ id }) => id)).toEqual(models);
    expect((await client.setModel("mock", "second")).id).toBe("second");
    expect((await client.getState()).model?.id).toBe("second");
    await expect(client.setModel("mock", "none-such")).rejects.toBeInstanceOf(CommandError);
    await client.run("hello").text();
    expect(server.requests.at(-1)?.body.model).toBe("second");
  });

  test("answers find their commands, also when a slow one is overtaken", async () => {
    const order: string[] = [];
    const note = async <T>(name: string, promise: Promise<T>): Promise<T> => {
      const value = await promise;
      order.push(name);
      return value;
    };
    const slow = note("bash", client.bash("until [ -e go-on ]; do sleep 0.01; done; echo slow"));
    const many = Array.from({ length: 20 }, (_, i) => {
      if (i % 2 === 0) return client.getAvailableModels().then((list) => list.some(({ id }) => id === "first"));
      return client.getState().then(({ model }) => model?.id === "first");
    });
    expect(new Set(await note("many", Promise.all(many)))).toEqual(new Set([true]));
    writeFileSync(cwd.file("go-on"), "");
    expect((await slow).output).toBe("slow\n");
    expect(order).toEqual(["many", "bash"]);
  });

  test("bash streams its output; the conversation has it, and the model hears of it with the next prompt", async () => {
    let streamed = "";
    const command = "echo out; echo err >&2; exit 3";
    const result = await client.bash(command, {
      onOutput(text) {
        streamed += text;
      },
    });
    expect(result).toMatchObject({ exitCode: 3, cancelled: false, truncated: false });
    expect(result.output).toBe(streamed);
    expect(streamed.split("\n").sort()).toEqual(["", "err", "out"]);
    await client.bash("echo for-my-eyes", { excludeFromContext: true });

    const kept = (await client.getMessages()).filter(({ role }) => role === "bashExecution");
    expect(kept).toMatchObject([
      { command, output: streamed, exitCode: 3 },
      { command: "echo for-my-eyes", output: "for-my-eyes\n", excludeFromContext: true },
    ]);
    await client.run("hello").text();
    const told = JSON.stringify(server.requests.at(-1)?.body.messages);
    expect(told).toContain(command);
    expect(told).not.toContain("for-my-eyes");
  });

  test("an unknown command is refused with its name and id, and the next one is answered", async () => {
    const error = await client.raw({ type: "no_such_command" }).then(
      () => undefined,
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(CommandError);
    expect(error).toMatchObject({ code: "command", command: "no_such_command", id: expect.stringMatching(/./) });
    expect(error.message).toContain("no_such_command");
    expect((await client.getState()).isStreaming).toBe(false);
  });

  test("a prompt is started or queued, as it says; what waits is said in its order, or taken back", async () => {
    const { run } = await waitingRun();
    await expect(client.prompt("refused")).rejects.toBeInstanceOf(CommandError);
    expect(await client.followUp("third")).toBe("queued");
    expect(await client.prompt("first", { streamingBehavior: "steer" })).toBe("queued");
    expect(await client.steer("second")).toBe("queued");
    expect(await client.prompt("fourth", { streamingBehavior: "followUp" })).toBe("queued");
    expect(await client.getState()).toMatchObject({ isStreaming: true, pendingMessageCount: 4 });
    server.release();
    expect(await run.text()).toBe("You said: fourth");
    expect(await saidByUser()).toEqual(["wait", "first", "second", "third", "fourth"]);

    const { run: again } = await waitingRun();
    await client.steer("never said");
    expect(await client.clearQueue()).toEqual({ steering: ["never said"], followUp: [] });
    server.release();
    expect(await again.text()).toBe("Waiting is over.");
  });

  test("abort ends a running request, and the agent is ready for the next prompt", async () => {
    const { run, request } = await waitingRun();
    await client.abort();
    await request.closed;
    expect(await run.outcome()).toMatchObject({ disposition: "started", aborted: true, stopReason: "aborted" });
    expect((await client.getState()).isStreaming).toBe(false);
    expect(await client.run("hello").text()).toBe("You said: hello");
  });

  test("abort ends a running tool with its process", async () => {
    const run = client.run(`bash {"command":"sleep 60 & echo $! > pid; wait"}`);
    const pidFile = cwd.file("pid");
    await waitUntil(() => runs(pidFile), "the command has begun");
    await client.abort();
    expect((await run.outcome()).aborted).toBe(true);
    await waitUntil(() => !runs(pidFile), "the command's process has ended");
  });

  test("the session's file holds the conversation that the agent tells", async () => {
    await client.run('bash {"command":"echo in a tool"}').text();
    await client.bash("echo by hand");
    await client.run("and now?").text();
    const { sessionFile = "", sessionId } = await client.getState();
    expect((await readSessionHeader(sessionFile))?.id).toBe(sessionId);
    const entries = await Array.fromAsync(readSession(sessionFile));
    const { messages, model } = buildContext(entries);
    expect(messages).toEqual(await client.getMessages());
    expect(messages.length).toBeGreaterThan(6);
    expect(model).toEqual({ provider: "mock", modelId: "first" });
  });

  test("runOnce tells what came of a task, with the events of JSON mode", async () => {
    const types = new Set<string>();
    const { stderr, messages, ...outcome } = await runOnce("hello", {
      ...agent.launch,
      onRecord: ({ type }) => void types.add(type),
    });
    expect(outcome).toMatchObject({ text: "You said: hello", stopReason: "stop", error: undefined, exitCode: 0 });
    expect(outcome.usage).toMatchObject({ input: 1000, output: 100 });
    expect(messages.slice(-2).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect([...types].at(0)).toBe("session");
    expect([...types].at(-1)).toBe("agent_settled");
  });

  test("the model reads a file: what it holds is in the answer", async () => {
    const nonce = crypto.randomUUID();
    writeFileSync(cwd.file("nonce.txt"), `${nonce}\n`);
    const run = client.run('read {"path":"nonce.txt"}');
    expect(await run.text()).toContain(nonce);
    const results = (await run.messages()).filter(({ role }) => role === "toolResult");
    expect(results).toMatchObject([{ toolName: "read", isError: false }]);
  });

  test("the model writes a file: it is on the disk", async () => {
    const nonce = crypto.randomUUID();
    await client.run(`write ${JSON.stringify({ path: "made/by-the-model.txt", content: nonce })}`).text();
    expect(readFileSync(cwd.file("made/by-the-model.txt"), "utf8")).toBe(nonce);
  });

  test("the model runs a command: its effect is on the disk", async () => {
    const nonce = crypto.randomUUID();
    const text = await client.run(`bash {"command":"echo ${nonce} | tee effect.txt"}`).text();
    expect(readFileSync(cwd.file("effect.txt"), "utf8")).toBe(`${nonce}\n`);
    expect(text).toContain(nonce);
  });
}
