// The SDK's client with the compiled program: what small fakes cannot show.
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AbortedError,
  AgentClient,
  CommandError,
  ExitError,
  type ReceivedRecord,
  RunFailedError,
  rpcCommands,
  runOnce,
  type StartOptions,
} from "../../src/index.ts";
import { failureOf, isAlive } from "../helpers/fake-client.ts";
import { isAtWork } from "../helpers/process-runs.ts";
import type { Reply } from "../helpers/replay-server.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, cleanEnv } from "../helpers/run-cli.ts";
import { scriptedModelsConfig, startScriptedModels } from "../helpers/scripted-models.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const key = "sk-test-0123456789abcdef";

/** A home and a folder to work in, and how to start the program there. */
function place(url: string) {
  const dir = tmp();
  const [home, cwd] = [dir.file("home"), dir.file("work")];
  for (const folder of [home, cwd]) mkdirSync(folder);
  // The variables of these tests alone: what else there is, is taken away.
  const nothing = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
  const env = { ...nothing, ...cleanEnv(home, { PI_PROVIDER: "openai", OPENAI_API_KEY: key, PI_BASE_URL: url }) };
  return { dir, home, cwd, options: { command: binaryPath(), cwd, env, validate: true } satisfies StartOptions };
}

const call = (command: string): Reply => ({
  turn: { calls: [{ id: "c", name: "bash", arguments: { command } }] },
});

test("every command of the protocol has its method, and each is answered as its type says", async () => {
  await using server = await startScriptedModels();
  const { dir, home, options } = place(server.url);
  await using _ = dir;
  mkdirSync(`${home}/.pi-ts`);
  writeFileSync(`${home}/.pi-ts/config.toml`, scriptedModelsConfig(server));
  await using client = await AgentClient.start({
    ...options,
    env: { ...options.env, PI_PROVIDER: undefined, PI_BASE_URL: undefined },
    args: ["--yolo"],
  });
  const sent = new Set<string>();
  const send = client.command.bind(client);
  client.command = ((type, params, call) => {
    sent.add(type);
    return send(type, params, call);
  }) as typeof client.command;

  expect(await client.run("hi").text()).toBe("Hello from the mock.");
  expect((await client.getState()).model?.id).toBe("hello");
  expect((await client.getMessages()).map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
  expect(await client.getLastAssistantText()).toBe("Hello from the mock.");
  expect((await client.getSessionStats()).tokens.output).toBe(100);
  expect((await client.getAvailableModels()).map(({ id }) => id)).toContain("think");
  expect((await client.setModel("mock", "think")).id).toBe("think");
  expect((await client.getAvailableThinkingLevels()).length).toBeGreaterThan(1);
  await client.setThinkingLevel("high");
  expect((await client.cycleThinkingLevel())?.level).toBeDefined();
  expect((await client.cycleModel())?.model.provider).toBe("mock");
  await client.setSteeringMode("all");
  await client.setFollowUpMode("one-at-a-time");
  await client.setAutoCompaction(false);
  await client.setAutoRetry(false);
  await client.abortRetry();
  await client.setSessionName("A name");
  expect(await client.getState()).toMatchObject({ sessionName: "A name", steeringMode: "all" });
  const heard: string[] = [];
  const bash = await client.bash("printf a; printf b >&2", { onOutput: (text) => heard.push(text) });
  expect([bash.output, heard.join(""), bash.exitCode]).toEqual(["ab", "ab", 0]);
  await client.abortBash();
  expect(await client.getCommands()).toEqual([]);
  const { entries, leafId } = await client.getEntries();
  expect(entries.at(-1)?.id).toBe(leafId as string);
  expect((await client.getEntries({ since: leafId as string })).entries).toEqual([]);
  expect((await client.getTree()).tree.length).toBe(1);
  expect(existsSync(await client.exportHtml())).toBe(true);
  const [first] = await client.getForkMessages();
  const { sessionFile } = await client.getState();
  expect(await client.clone()).toEqual({ cancelled: false });
  expect(await client.switchSession(sessionFile as string)).toEqual({ cancelled: false });
  expect(await client.fork(first?.entryId as string)).toEqual({ text: "hi", cancelled: false });
  expect(await client.newSession()).toEqual({ cancelled: false });
  expect(await client.clearQueue()).toEqual({ steering: [], followUp: [] });
  expect(await failureOf(client.compact())).toMatchObject({ code: "command", command: "compact" });
  await client.abort();
  expect(await client.steer("one")).toBe("queued");
  expect(await client.followUp("two")).toBe("queued");
  expect(await client.prompt("three")).toBe("started");
  // Those three read the answer before it is given on, and do not send by `command`.
  expect([...sent, "prompt", "steer", "follow_up"].sort()).toEqual(Object.keys(rpcCommands).sort());
});

test("a command runs after a yes that onApproval gives, and not after a no", async () => {
  await using server = await startReplayServer([call("echo > yes"), call("echo > no"), { turn: { text: "Done." } }]);
  const { dir, cwd, options } = place(server.url);
  await using _ = dir;
  await using client = await AgentClient.start({ ...options, args: ["--no-session"] });
  client.onApproval((request) => request.method === "confirm" && request.message.includes("yes"));
  const run = client.run("go");
  expect(await run.text()).toBe("Done.");
  expect([existsSync(`${cwd}/yes`), existsSync(`${cwd}/no`)]).toEqual([true, false]);
  expect((await run.messages()).map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "toolResult",
    "assistant",
    "toolResult",
    "assistant",
  ]);
});

test("a signal ends the run and what it has started; the next message is answered", async () => {
  await using server = await startReplayServer([call("echo $$ > pid; exec sleep 60"), { turn: { text: "Next." } }]);
  const { dir, cwd, options } = place(server.url);
  await using _ = dir;
  await using client = await AgentClient.start({ ...options, args: ["--yolo"] });
  const stop = new AbortController();
  const run = client.run("go", { signal: stop.signal });
  const failed = failureOf(run.text());
  await waitUntil(async () => existsSync(`${cwd}/pid`) && (await Bun.file(`${cwd}/pid`).text()) !== "", "it runs");
  const pid = Number(await Bun.file(`${cwd}/pid`).text());
  stop.abort();
  expect(await failed).toBeInstanceOf(AbortedError);
  expect(await client.run("and now?").text()).toBe("Next.");
  expect(isAlive(pid)).toBe(false);
});

test("a close in the middle of a run ends everything, and another client goes on in the session", async () => {
  await using server = await startReplayServer([call("exec sleep 60"), { turn: { text: "Still here." } }]);
  const { dir, options } = place(server.url);
  await using _ = dir;
  const client = await AgentClient.start({ ...options, args: ["--yolo"] });
  const heard: ReceivedRecord[] = [];
  client.subscribe((record) => heard.push(record));
  await client.prompt("go");
  await waitUntil(() => heard.some(({ type }) => type === "tool_execution_start"), "the command has begun");
  const { sessionFile } = await client.getState();
  const begun = performance.now();
  await client.close();
  // In order: the process would be killed after 2500 ms.
  expect(performance.now() - begun).toBeLessThan(2000);
  expect(isAlive(client.pid)).toBe(false);
  await using again = await AgentClient.start({ ...options, args: ["--session", sessionFile as string] });
  expect(await again.run("are you there?").text()).toBe("Still here.");
  const users = (await again.getMessages()).filter(({ role }) => role === "user");
  expect(users.length).toBe(2);
});

test("a run that the provider refuses has an error with the agent's code and hint", async () => {
  await using server = await startReplayServer([
    { status: 401, body: JSON.stringify({ error: { message: "Incorrect API key provided" } }) },
  ]);
  const { dir, options } = place(server.url);
  await using _ = dir;
  await using client = await AgentClient.start(options);
  const error = await failureOf(client.run("hi").text());
  expect(error).toBeInstanceOf(RunFailedError);
  expect(error).toMatchObject({ reason: "auth", text: "" });
  expect((error as RunFailedError).message).toContain("Incorrect API key provided");
});

test("a message that is too long for a line is refused, and nothing else with it", async () => {
  const { dir, options } = place("http://127.0.0.1:9/v1");
  await using _ = dir;
  await using client = await AgentClient.start(options);
  const state = client.getState();
  const error = await failureOf(client.prompt("x".repeat(64 * 1024 * 1024)));
  expect(error).toBeInstanceOf(CommandError);
  expect(error).toMatchObject({ command: "prompt", message: expect.stringContaining("The line is too long") });
  expect(await state).toMatchObject({ messageCount: 0 });
});

test("wrong flags are an exit with the program's own words", async () => {
  const { dir, options } = place("http://127.0.0.1:9/v1");
  await using _ = dir;
  await using client = await AgentClient.start({ ...options, args: ["--no-such-flag"] });
  const error = await failureOf(client.getState());
  expect(error).toBeInstanceOf(ExitError);
  expect(error).toMatchObject({ exitCode: 2, signal: null });
  const { message, stderr } = error as ExitError;
  expect(stderr).toStartWith("error: Unknown flag --no-such-flag\n  See pi-ts --help.");
  expect(message).toBe(`The agent has ended with exit code 2: ${stderr.trimEnd()}`);
});

test("runOnce tells one task from its start to its exit code, and what nobody could allow", async () => {
  await using server = await startReplayServer([call("echo > no"), { turn: { text: "I could not." } }]);
  const { dir, options } = place(server.url);
  await using _ = dir;
  const types: string[] = [];
  const result = await runOnce("--go", { ...options, onRecord: ({ type }) => types.push(type) });
  expect(result).toMatchObject({ text: "I could not.", stopReason: "stop", exitCode: 0, error: undefined });
  expect(result.deniedCalls).toMatchObject([{ toolName: "bash" }]);
  expect(result.sessionId).toBeDefined();
  const { deniedCalls, sessionId } = result;
  expect(result.result).toMatchObject({ status: "done", exitCode: 0, turns: 2, toolCalls: 1, deniedCalls, sessionId });
  expect(types[0]).toBe("session");
  expect(types.at(-1)).toBe("agent_settled");
  expect(await failureOf(runOnce(" ", options))).toMatchObject({ code: "exit", exitCode: 2 });
});

describe.each(["AgentClient", "runOnce"])("the program that uses %s", (way) => {
  test.concurrent.each(["exit", "SIGINT", "SIGKILL"])(
    "takes the agent and what it runs along when it ends by %s",
    async (how) => {
      await using server = await startReplayServer([call("echo $$ > pid; trap '' TERM INT; sleep 60"), "silent"]);
      const { dir, cwd, options } = place(server.url);
      await using _ = dir;
      const started = { ...options, args: ["--yolo", "--no-session"] };
      await Bun.write(
        dir.file("program.ts"),
        `import { AgentClient, runOnce } from "${join(import.meta.dir, "../../src/index.ts")}";
       const options = ${JSON.stringify(started)};
       if ("${way}" === "runOnce") runOnce("go", options);
       else (await AgentClient.start(options)).run("go").text();
       process.stdin.on("data", () => process.exit(0));`,
      );
      const program = Bun.spawn([process.execPath, dir.file("program.ts")], { stdin: "pipe", stdout: "ignore" });
      const told = async () => (existsSync(`${cwd}/pid`) ? Number(await Bun.file(`${cwd}/pid`).text()) : 0);
      await waitUntil(async () => (await told()) > 0, "the command runs");
      const pid = await told();
      const agent = Number(/PPid:\s+(\d+)/.exec(await Bun.file(`/proc/${pid}/status`).text())?.[1]);
      expect(isAtWork(agent)).toBe(true);
      if (how === "exit") program.stdin.write("end\n");
      else program.kill(how as NodeJS.Signals);
      await program.exited;
      await waitUntil(() => !isAtWork(agent) && !isAtWork(pid), "both have ended", 10_000);
    },
    20_000,
  );
});
