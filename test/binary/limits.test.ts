// Limits of the compiled binary: each ends the run at its boundary, with what it started, and is named in the last record, on stderr and by exit code 1.
import { describe, expect, test } from "bun:test";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import * as z from "zod/mini";
import { AgentEvent } from "../../src/protocol/event.ts";
import { textDelta } from "../helpers/chat-stream.ts";
import { runs } from "../helpers/process-runs.ts";
import { startPty } from "../helpers/pty.ts";
import { gate, type Reply, type Script, startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, cleanEnv, runCli, startCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const hello: Reply = { turn: { text: "Hello from the model." } };
const at = (url: string) => ({ PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: url });
const ls = (...ids: string[]): Reply => ({ turn: { calls: ids.map((id) => ({ id, name: "ls", arguments: {} })) } });

async function run(script: Script, args: readonly string[], config = "") {
  await using server = await startReplayServer(script);
  await using dir = tmp();
  mkdirSync(dir.file("home/.pi-ts"), { recursive: true });
  writeFileSync(dir.file("home/.pi-ts/config.toml"), config);
  const result = await runCli([...args, "hi"], { env: at(server.url), home: dir.file("home") });
  expect(server.problems).toEqual([]);
  return { ...result, requests: server.requests };
}

function lastRecord(stdout: string) {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
}

describe("--max-tool-calls", () => {
  test("the call beyond it is not run, gets a result all the same, and no further request is sent", async () => {
    const { stdout, stderr, code, requests } = await run(
      [ls("c1"), ls("c2", "c3"), hello],
      ["--mode", "json", "--max-tool-calls", "2"],
    );
    const records = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const started = records.filter(({ type }) => type === "tool_execution_start").map(({ toolCallId }) => toolCallId);
    expect(started).toEqual(["c1", "c2"]);
    const results = records.filter(({ type, message }) => type === "message_end" && message.role === "toolResult");
    expect(results.map(({ message }) => message.isError)).toEqual([false, false, true]);
    expect(records.at(-1)).toMatchObject({
      type: "agent_settled",
      aborted: false,
      error: { code: "tool_call_limit", message: "Stopped after 2 tool calls: the limit of tool calls is reached" },
      result: { status: "limit", exitCode: 1, turns: 2, toolCalls: 2 },
    });
    expect(stderr).toContain("error: Stopped after 2 tool calls: the limit of tool calls is reached");
    expect([code, requests.length]).toEqual([1, 2]);
  });

  test("that many calls and then an answer are no trouble", async () => {
    const { stdout, code } = await run([ls("c1", "c2"), hello], ["-p", "--max-tool-calls", "2"]);
    expect([stdout, code]).toEqual(["Hello from the model.\n", 0]);
  });

  test("is a key of config.toml too", async () => {
    const { stderr, code } = await run([ls("c1", "c2"), hello], ["-p"], "max_tool_calls = 1\n");
    expect(stderr).toContain("Stopped after 1 tool call: the limit of tool calls is reached");
    expect(code).toBe(1);
  });
});

describe("--max-cost", () => {
  // gpt-4o: $2.50 for a million tokens in, $10 for a million out.
  const expensive: Reply = {
    turn: { calls: [{ id: "c1", name: "ls", arguments: {} }], usage: { prompt: 100_000, completion: 10_000 } },
  };

  test("ends the run before the next request, once what was spent has reached it", async () => {
    const { stdout, stderr, code, requests } = await run(
      [expensive, hello],
      ["--mode", "json", "-m", "gpt-4o", "--max-cost", "0.30"],
    );
    const { error, result } = lastRecord(stdout);
    expect(error).toMatchObject({
      code: "cost_limit",
      message: "Stopped after $0.35: the cost limit of $0.30 is reached",
    });
    expect(result).toMatchObject({ status: "limit", cost: 0.35, toolCalls: 1 });
    expect(stderr).toContain(error.message);
    expect([code, requests.length]).toEqual([1, 1]);
  });

  test("a compaction that reaches it ends the run before the request that it made room for", async () => {
    const table =
      '[[providers.openai.models]]\nid = "small"\ncontext_window = 8000\ncost = { input = 1, output = 1 }\n';
    const command = "head -c 14000 /dev/zero | tr '\\0' 'x'";
    const flood: Reply = {
      turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }], usage: { prompt: 6000, completion: 10 } },
    };
    const notes: Reply = { turn: { text: "## Goal\nsay hi", usage: { prompt: 100_000, completion: 100_000 } } };
    const { stderr, code, requests } = await run(
      [flood, notes, hello],
      ["-p", "--yolo", "-m", "openai/small", "--max-tokens", "500", "--max-cost", "0.10"],
      table,
    );
    expect(stderr).toContain("Stopped after $0.21: the cost limit of $0.10 is reached");
    expect([code, requests.length]).toEqual([1, 2]);
  });

  test("what stays below it goes on", async () => {
    const { stdout, code } = await run(
      [expensive, hello],
      ["-p", "-m", "gpt-4o", "--max-cost", "0.50"],
      "max_cost = 0.01\n",
    );
    expect([stdout, code]).toEqual(["Hello from the model.\n", 0]);
  });

  test("for a model of unknown price is an error at the start, and none where config.toml has the price", async () => {
    const unknown = await run([], ["-p", "-m", "openai/unheard-of", "--max-cost", "1"]);
    expect([unknown.code, unknown.requests.length]).toEqual([2, 0]);
    expect(unknown.stderr).toContain("The cost limit cannot be kept: what openai/unheard-of costs is not known");
    const table = '[[providers.openai.models]]\nid = "unheard-of"\ncost = { input = 0, output = 0 }\n';
    const known = await run([hello], ["-p", "-m", "openai/unheard-of", "--max-cost", "1"], table);
    expect(known.code).toBe(0);
  });

  test("with a provider that does not count tokens ends the run instead of spending on", async () => {
    const { stderr, code, requests } = await run([ls("c1"), hello], ["-p", "-m", "gpt-4o", "--max-cost", "1"]);
    expect(stderr).toContain("the provider does not tell how many tokens an answer took");
    expect([code, requests.length]).toEqual([1, 1]);
  });
});

describe("--timeout", () => {
  test("ends the request in flight, and the session keeps what was asked", async () => {
    const { opened } = gate();
    await using server = await startReplayServer([{ body: [textDelta("never "), opened] }]);
    await using dir = tmp();
    const home = dir.file("home");
    mkdirSync(home);
    const args = ["--mode", "json", "--timeout", "1500ms", "--session-id", "kept", "hi"];
    const { stdout, stderr, code } = await runCli(args, { env: at(server.url), home });
    expect(lastRecord(stdout)).toMatchObject({
      aborted: false,
      error: { code: "time_limit", message: "Stopped after 1.5 s: the time limit is reached" },
      result: { status: "limit", exitCode: 1, reason: { code: "time_limit" } },
    });
    expect(stderr).toContain("Stopped after 1.5 s: the time limit is reached");
    expect(code).toBe(1);
    await server.requests[0]?.closed;
    const shown = await runCli(["sessions", "show", "kept"], { home });
    expect(shown.stdout).toContain("> hi");
  });

  test("kills the tool that runs, with all it started, and tells the model why", async () => {
    await using dir = tmp();
    const command = "sleep 300 & echo $! > pid; wait";
    await using server = await startReplayServer([
      { turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }] } },
    ]);
    const args = ["--mode", "json", "--yolo", "--timeout", "2s", "hi"];
    const { stdout, code } = await runCli(args, { env: at(server.url), cwd: dir.path });
    expect(lastRecord(stdout)).toMatchObject({ error: { code: "time_limit" } });
    expect(stdout).toContain("Error: ended: Stopped after 2.0 s: the time limit is reached");
    expect(code).toBe(1);
    expect(readFileSync(dir.file("pid"), "utf8")).toMatch(/^\d+\n$/);
    expect(runs(dir.file("pid"))).toBe(false);
  });

  test("ends the program also when nobody reads the answer", async () => {
    await using server = await startReplayServer([{ turn: { text: "x".repeat(1_000_000) } }]);
    await using dir = tmp();
    // The shell tells when the program is gone; the reader that never reads is still there then.
    const command = `{ "$0" -p --timeout 1s --result result.json hi 2> told; echo $? > code; } | sh -c 'echo $$ > reader; exec sleep 30'`;
    const child = Bun.spawn(["sh", "-c", command, binaryPath()], {
      cwd: dir.path,
      env: cleanEnv(dir.path, at(server.url)),
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    const isGone = () => existsSync(dir.file("code")) && readFileSync(dir.file("code"), "utf8") === "1\n";
    await waitUntil(isGone, "the program has ended");
    expect(readFileSync(dir.file("told"), "utf8")).toContain("Stopped after 1.0 s: the time limit is reached");
    expect(await Bun.file(dir.file("result.json")).json()).toMatchObject({ status: "limit", exitCode: 1 });
    process.kill(Number(readFileSync(dir.file("reader"), "utf8")));
    await child.exited;
  });

  test.each([
    ["the end of the time", undefined, 1, "time_limit"],
    ["a signal", "SIGTERM", 143, "aborted"],
  ] as const)(
    "%s ends the program also when nobody reads stderr",
    async (_name, signal, code, reason) => {
      await using dir = tmp();
      // Denied, each with more than a hundred bytes of words: too many for a pipe.
      const calls = Array.from({ length: 1000 }, (_, i) => ({
        id: `c${i}`,
        name: "bash",
        arguments: { command: "true" },
      }));
      await using server = await startReplayServer([{ turn: { calls } }, "silent"]);
      Bun.spawnSync(["mkfifo", dir.file("stderr")]);
      const stderr = openSync(dir.file("stderr"), "r+");
      try {
        const limit = signal ? [] : ["--timeout", "2"];
        const child = Bun.spawn([binaryPath(), "-p", "--result", "result.json", ...limit, "hi"], {
          cwd: dir.path,
          env: cleanEnv(dir.path, at(server.url)),
          stdio: ["ignore", "ignore", stderr],
          timeout: 15_000,
          killSignal: "SIGKILL",
        });
        await server.request(1);
        if (signal) child.kill(signal);
        expect(await child.exited).toBe(code);
        expect(JSON.parse(readFileSync(dir.file("result.json"), "utf8")).reason.code).toBe(reason);
      } finally {
        closeSync(stderr);
      }
    },
    20_000,
  );

  test("in the REPL it ends that prompt, and the next one has its own", async () => {
    await using server = await startReplayServer([{ body: [textDelta("so far"), gate().opened] }, hello]);
    await using pty = await startPty(["--timeout", "1s"], { env: at(server.url) });
    await pty.waitFor("> ");
    pty.write("go\r");
    await pty.waitFor("the time limit is reached");
    pty.write("next\r");
    await pty.waitFor("Hello from the model.");
    pty.write("\x04");
    expect(await pty.exited()).toBe(0);
    const said = server.requests[1]?.body.messages.slice(1).map(({ content }: { content: string }) => content);
    expect(said).toEqual(["go", "so far", "next"]);
  });

  test("also ends the wait for a pipe", async () => {
    const args = ["--mode", "json", "--timeout", "500ms", "hi", "-"];
    await using cli = startCli(args, { env: at("http://127.0.0.1:9"), stdin: "open" });
    const { stdout, stderr, code } = await cli.exited;
    expect(stderr).toContain("Stopped after 500 ms: the time limit is reached");
    const reason = { code: "time_limit", message: "Stopped after 500 ms: the time limit is reached" };
    const record = z.parse(AgentEvent, JSON.parse(stdout));
    expect(record).toMatchObject({ error: reason, result: { status: "limit", exitCode: 1, reason, turns: 0 } });
    expect(code).toBe(1);
  });

  test("also ends the wait before a repetition", async () => {
    const busy: Reply = { status: 503, headers: { "retry-after": "60" }, body: "busy" };
    const { stderr, code } = await run([busy], ["-p"], 'timeout = "1s"\n');
    expect(stderr).toContain("trying again in");
    expect(stderr).toContain("Stopped after 1.0 s: the time limit is reached");
    expect(code).toBe(1);
  });

  test.each([
    [["--timeout", "soon"], "--timeout must be a time above 0 such as 90, 90s, 10m or 1h"],
    [["--timeout", "0"], "--timeout must be"],
    [["--timeout", "90d"], "--timeout must be"],
    [["--timeout", ""], "--timeout must be"],
    [["--max-cost", ""], "--max-cost must be US dollars above 0"],
    [["--max-turns", ""], "--max-turns needs a number"],
    [["--max-cost", "0"], "--max-cost must be US dollars above 0"],
    [["--max-tool-calls", "some"], "--max-tool-calls must be a whole number above 0"],
  ])("%j is a usage error", async (args, message) => {
    const { stderr, code } = await runCli(["-p", ...args, "hi"], { env: at("http://127.0.0.1:9") });
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});

test("limits hold for each prompt in RPC mode, whose settled record names them", async () => {
  await using server = await startReplayServer([ls("c1"), ls("c2", "c3"), hello]);
  await using cli = startCli(["--mode", "rpc", "--max-tool-calls", "1"], { env: at(server.url), stdin: "open" });
  cli.write('{"id":"1","type":"prompt","message":"one"}\n');
  await cli.waitFor(/"code":"tool_call_limit"[^\n]*\n/);
  cli.write('{"id":"2","type":"prompt","message":"two"}\n');
  await cli.waitFor(/Hello from the model\.[^\n]*\n(?:[^\n]*\n)*\{"type":"agent_settled","aborted":false\}\n/);
  cli.end();
  expect((await cli.exited).code).toBe(0);
});
