// `--result FILE` of the compiled binary: one JSON object that tells the truth on every way out.
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import * as z from "zod/mini";
import { RunResult } from "../../src/protocol/outcome.ts";
import { textDelta } from "../helpers/chat-stream.ts";
import { gate, type Reply, refusal, type Script, startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, type CliOptions, cleanEnv, runCli, startCli } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

const hello: Reply = { turn: { text: "Hello from the model.", usage: { prompt: 1000, completion: 100 } } };
const bash: Reply = { turn: { calls: [{ id: "c1", name: "bash", arguments: { command: "true" } }] } };
const at = (url: string) => ({ PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: url });
const nowhere = at("http://127.0.0.1:9");

function resultIn(dir: TmpDir): RunResult {
  const text = readFileSync(dir.file("result.json"), "utf8");
  expect(text.endsWith("}\n")).toBe(true);
  // Nothing is left beside it.
  expect(readdirSync(dir.path).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  return z.parse(RunResult, JSON.parse(text));
}

async function run(script: Script, args: readonly string[], options: CliOptions = {}) {
  await using server = await startReplayServer(script);
  await using dir = tmp();
  const all = ["--result", "result.json", ...args];
  const cli = await runCli(all, { cwd: dir.path, ...options, env: { ...at(server.url), ...options.env } });
  expect(server.problems).toEqual([]);
  return { ...cli, result: resultIn(dir), mode: statSync(dir.file("result.json")).mode & 0o777 };
}

test("of a run that ended well has everything that is known of it, for its owner alone", async () => {
  const { stdout, code, result, mode } = await run(
    [{ turn: { calls: [{ id: "c1", name: "ls", arguments: {} }], usage: { prompt: 500, completion: 50 } } }, hello],
    ["-p", "-m", "gpt-4o", "hi"],
  );
  expect([stdout, code, mode]).toEqual(["Hello from the model.\n", 0, 0o600]);
  expect(result).toEqual({
    status: "done",
    exitCode: 0,
    reason: null,
    text: "Hello from the model.",
    sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    model: "openai/gpt-4o",
    turns: 2,
    toolCalls: 1,
    deniedCalls: [],
    usage: expect.objectContaining({ input: 1500, output: 150, totalTokens: 1650 }),
    cost: 0.00525,
    durationMs: expect.any(Number),
  });
});

test("JSON mode's last record has the same verdict", async () => {
  const { stdout, result } = await run([hello], ["--mode", "json", "hi"]);
  const last = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(last.result).toEqual(result);
});

test("a cost that nobody knows is null", async () => {
  const { result } = await run([hello], ["-p", "-m", "openai/unheard-of", "hi"]);
  expect(result).toMatchObject({ status: "done", cost: null, usage: { totalTokens: 1100 } });
});

describe("the reason", () => {
  test.each<[name: string, script: Script, args: string[], code: number, expected: object]>([
    ["a refusal of the provider", [refusal(401, { error: { message: "bad key" } })], ["-p", "hi"], 1, { code: "auth" }],
    ["a reply that is none", ["refuse"], ["-p", "--max-retries", "0", "hi"], 1, { code: "network" }],
    [
      "half an answer",
      [{ body: [textDelta("half")] }],
      ["-p", "--max-retries", "0", "hi"],
      1,
      { code: "stream_truncated" },
    ],
    ["a limit", [bash, hello], ["-p", "--yolo", "--max-turns", "1", "hi"], 1, { code: "turn_limit" }],
    ["a denied call", [bash, hello], ["-p", "--fail-on-denied", "hi"], 1, { code: "denied" }],
    ["no task", [], ["-p", ""], 2, { code: "usage", message: "No task given" }],
    ["a flag's wrong value", [], ["-p", "--max-turns", "x", "hi"], 2, { code: "usage" }],
    ["a limit without a value", [], ["-p", "--max-cost", "", "hi"], 2, { code: "usage" }],
    ["a flag that does not exist", [], ["-p", "--nope", "hi"], 2, { code: "usage", message: "Unknown flag --nope" }],
    ["a command behind a flag", [], ["--quiet", "demo"], 2, { code: "usage" }],
    ["a wrong mode", [], ["--mode", "xml", "hi"], 2, { code: "usage" }],
    ["an unknown session", [], ["-p", "--resume=nothing-like-it", "hi"], 2, { code: "session" }],
  ])("tells %s", async (_name, script, args, code, expected) => {
    const { result, ...cli } = await run(script, args);
    expect(result).toMatchObject({ exitCode: code, reason: expected });
    expect(result.status).toBe("code" in expected && expected.code === "turn_limit" ? "limit" : "error");
    expect(cli.code).toBe(code);
    expect(cli.stderr).toContain(result.reason?.message ?? "?");
  });

  test("tells a missing key", async () => {
    const { result, code } = await run([], ["-p", "hi"], { env: { OPENAI_API_KEY: "" } });
    expect([result.reason?.code, result.exitCode, code]).toEqual(["missing_key", 2, 2]);
  });

  test("never has a key in it", async () => {
    const key = "sk-test-0123456789abcdef";
    const { result } = await run([refusal(401, { error: { message: `no such key ${key}` } })], ["-p", "hi"]);
    expect(JSON.stringify(result)).not.toContain(key);
  });
});

test("denied calls are listed, and without --fail-on-denied change nothing", async () => {
  const { result, code } = await run([bash, hello], ["-p", "hi"]);
  expect(result).toMatchObject({
    status: "done",
    deniedCalls: [{ toolCallId: "c1", toolName: "bash", summary: "true" }],
  });
  expect(code).toBe(0);
});

test("--fail-on-denied: the answer is there, the exit code is 1, and stderr says why", async () => {
  const { stdout, stderr, code } = await run([bash, hello], ["-p", "--fail-on-denied", "hi"]);
  expect([stdout, code]).toEqual(["Hello from the model.\n", 1]);
  expect(stderr).toContain("1 call was denied (--fail-on-denied)");
  const allowed = await run([bash, hello], ["-p", "--fail-on-denied", "--allow", "bash(true)", "hi"]);
  expect([allowed.code, allowed.result.status]).toEqual([0, "done"]);
});

test("an answer that cannot be written to stdout is no success there either", async () => {
  await using server = await startReplayServer([hello]);
  await using dir = tmp();
  const child = Bun.spawn(["sh", "-c", `exec "$0" -p --result result.json hi > /dev/full`, binaryPath()], {
    cwd: dir.path,
    env: cleanEnv(dir.path, at(server.url)),
    stdin: "ignore",
    stderr: "pipe",
  });
  expect(await child.exited).toBe(1);
  expect(resultIn(dir)).toMatchObject({ status: "error", exitCode: 1, reason: { code: "output" } });
});

test.each(["text", "json"])("a verdict that cannot be written at the end is no success in --mode %s", async (mode) => {
  const command = "rm -r out; touch out";
  await using server = await startReplayServer([
    { turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }] } },
    hello,
  ]);
  await using dir = tmp();
  mkdirSync(dir.file("out"));
  const args = ["--mode", mode, "--yolo", "--result", "out/result.json", "hi"];
  const { stdout, stderr, code } = await runCli(args, { cwd: dir.path, env: at(server.url) });
  const message = `--result: cannot write ${dir.file("out/result.json")}: `;
  expect(stderr.match(/^error: .*/gm)).toEqual([expect.stringContaining(message)]);
  expect(code).toBe(1);
  if (mode === "text") return;
  const reason = { code: "output", message: expect.stringContaining(message) };
  const last = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(last).toMatchObject({
    type: "agent_settled",
    error: reason,
    result: { status: "error", exitCode: 1, reason },
  });
});

describe("signals", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s while the model answers", async (signal, exitCode) => {
    const { opened } = gate();
    const { result, code } = await run([{ body: [textDelta("wait"), opened] }], ["--mode", "json", "hi"], {
      signalWhen: { when: "wait", signal },
    });
    expect(code).toBe(exitCode);
    expect(result).toMatchObject({
      status: "aborted",
      exitCode,
      reason: { code: "aborted", message: `Ended by ${signal}` },
    });
    expect(result.sessionId).not.toBeNull();
  });

  test("SIGTERM before there is a task", async () => {
    await using dir = tmp();
    const args = ["-p", "--result", "result.json", "hi", "-"];
    await using cli = startCli(args, { cwd: dir.path, env: nowhere, stdin: "open" });
    while (!existsSync(dir.file("result.json"))) await Bun.sleep(5);
    expect(resultIn(dir)).toMatchObject({ status: "running", exitCode: null, reason: null });
    cli.kill("SIGTERM");
    expect((await cli.exited).code).toBe(143);
    expect(resultIn(dir)).toMatchObject({ status: "aborted", exitCode: 143 });
  });

  test("a second one, which ends the program at once", async () => {
    await using dir = tmp();
    const { opened } = gate();
    const command = "trap '' TERM; echo up; sleep 300";
    await using server = await startReplayServer([
      { turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }] } },
      { body: [opened] },
    ]);
    const args = ["--mode", "json", "--yolo", "--result", "result.json", "hi"];
    await using cli = startCli(args, { cwd: dir.path, env: at(server.url) });
    await cli.waitFor(/"tool_execution_update".*"text":"up\\n"/);
    cli.kill("SIGTERM");
    cli.kill("SIGINT");
    const { code } = await cli.exited;
    expect(resultIn(dir)).toMatchObject({ status: "aborted", exitCode: code, toolCalls: 1 });
  });

  test("SIGKILL leaves it at running", async () => {
    await using dir = tmp();
    await using server = await startReplayServer(["silent"]);
    const args = ["-p", "--result", "result.json", "hi"];
    await using cli = startCli(args, { cwd: dir.path, env: at(server.url) });
    await server.request(0);
    cli.kill("SIGKILL");
    await cli.exited;
    expect(resultIn(dir)).toMatchObject({ status: "running", exitCode: null });
  });
});

describe("a file that cannot be written is an error before the run", () => {
  test.each([
    ["a folder that is not there", "nowhere/result.json", "ENOENT"],
    ["a folder", ".", "not a regular file"],
    ["a device", "/dev/null", "not a regular file"],
    ["a file system that takes no files", "/proc/result.json", "ENOENT"],
  ])("%s", async (_name, path, why) => {
    await using server = await startReplayServer([]);
    const { stderr, code } = await runCli(["-p", "--result", path, "hi"], { env: at(server.url) });
    expect(stderr).toContain("--result: cannot write");
    expect(stderr).toContain(why);
    expect([code, server.requests.length]).toEqual([2, 0]);
  });

  const bwrap = ["bwrap", "--dev-bind", "/", "/"];
  const canMount = Bun.which("bwrap") !== null && Bun.spawnSync([...bwrap, "true"]).success;
  test.skipIf(!canMount)("a file system that is read-only", async () => {
    await using dir = tmp();
    const words = [binaryPath(), "-p", "--result", "result.json", "hi"];
    const { stderr, exitCode } = Bun.spawnSync([...bwrap, "--ro-bind", dir.path, dir.path, ...words], {
      cwd: dir.path,
      env: cleanEnv(dir.path, nowhere),
    });
    expect(exitCode).toBe(2);
    expect(`${stderr}`).toMatch(/^error: --result: cannot write .*: EROFS: read-only file system, open /);
  });
});

test.each([
  ["a pipe", `"$0" -p --result /dev/stdout hi | cat`],
  ["the file that stdout goes to", `"$0" -p --result out.txt hi > out.txt`],
])("stdout is no place for it: %s", async (_name, command) => {
  await using dir = tmp();
  const child = Bun.spawn(["sh", "-c", command, binaryPath()], {
    cwd: dir.path,
    env: cleanEnv(dir.path, nowhere),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stderr] = await Promise.all([child.stderr.text(), child.exited]);
  expect(stderr).toMatch(/^error: --result: cannot write .*(not a regular file|stdout goes there)/);
  expect(readdirSync(dir.path).filter((name) => name !== "out.txt")).toEqual([]);
});

test("what stood in the file before is never taken for this run's", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("result.json"), '{"status":"done"}');
  const { code } = await runCli(["-p", "--result", "result.json", "--max-turns", "x", "hi"], { cwd: dir.path });
  expect([code, resultIn(dir).status]).toEqual([2, "error"]);
});

test("modes with more than one task have no such file", async () => {
  await using dir = tmp();
  const { stderr, code } = await runCli(["--mode", "rpc", "--result", "result.json"], { cwd: dir.path, env: nowhere });
  expect(stderr).toContain("--result is for runs of one task");
  expect([code, existsSync(dir.file("result.json"))]).toEqual([2, false]);
});

test("a session that cannot be written is told", async () => {
  await using dir = tmp();
  mkdirSync(dir.file("home"));
  writeFileSync(dir.file("home/.pi-ts"), "a file in the place of the folder");
  await using server = await startReplayServer([hello]);
  const args = ["-p", "--result", "result.json", "hi"];
  const { code } = await runCli(args, { cwd: dir.path, home: dir.file("home"), env: at(server.url) });
  const result = resultIn(dir);
  expect(code).toBe(2);
  expect(result).toMatchObject({ status: "error", exitCode: code });
});
