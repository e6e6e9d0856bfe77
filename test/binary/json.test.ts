// JSON mode of the compiled binary: stdout holds the session's header and every event, one a line, and nothing else.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import * as z from "zod/mini";
import { SessionHeader } from "../../src/protocol/entry.ts";
import { AgentEvent } from "../../src/protocol/event.ts";
import { textDelta } from "../helpers/chat-stream.ts";
import { runs } from "../helpers/process-runs.ts";
import { startPty } from "../helpers/pty.ts";
import { gate, type Reply, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, type CliOptions, cleanEnv, createPlace, runCli, startCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const hello: Reply = { turn: { text: "Hello from the model." } };

function at(url: string): Record<string, string> {
  return { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: url };
}

function bash(command: string): Reply {
  return { turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }] } };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
type Recorded = any;

/** Every line as a record that its schema accepts; the first is the header. */
function recordsOf(stdout: string): Recorded[] {
  expect(stdout.endsWith("\n")).toBe(true);
  expect(stdout).not.toContain("\r");
  const records = stdout
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line));
  z.parse(SessionHeader, records[0]);
  for (const record of records.slice(1)) z.parse(AgentEvent, record);
  return records;
}

async function run(script: Reply[], args: readonly string[] = [], options: CliOptions = {}) {
  await using server = await startReplayServer(script);
  const result = await runCli(["--mode", "json", ...args, "hi"], {
    ...options,
    env: { ...at(server.url), ...options.env },
  });
  expect(server.problems).toEqual([]);
  return { ...result, records: recordsOf(result.stdout) };
}

function typesOf(records: Recorded[]): string[] {
  const types = records.map(({ type }) => type);
  return types.filter((type, i) => type !== "message_update" || types[i - 1] !== "message_update");
}

test.each<[string, string[], string]>([
  ["a missing key", ["hi"], "missing_key"],
  ["a wrong value", ["--max-turns", "x", "hi"], "usage"],
  ["a flag that does not exist", ["--nope", "hi"], "usage"],
  ["a command behind a flag", ["models"], "usage"],
])("a run that cannot begin for %s tells the verdict alone", async (_name, args, errorCode) => {
  const { stdout, code } = await runCli(["--mode", "json", ...args], { env: { PI_PROVIDER: "openai" } });
  const record = z.parse(AgentEvent, JSON.parse(stdout));
  expect(record).toMatchObject({
    type: "agent_settled",
    error: { code: errorCode },
    result: { status: "error", exitCode: 2, reason: { code: errorCode }, sessionId: null },
  });
  expect(code).toBe(2);
});

test("and so does one that a signal ends, at once or while a pipe is silent", async () => {
  await using dir = tmp();
  const args = ["--mode", "json", "--result", "result.json", "-"];
  await using cli = startCli(args, { cwd: dir.path, env: at("http://127.0.0.1:9"), stdin: "open" });
  await waitUntil(() => existsSync(dir.file("result.json")), "the run has begun");
  cli.kill("SIGTERM");
  const { stdout, code } = await cli.exited;
  const record = z.parse(AgentEvent, JSON.parse(stdout));
  expect(record).toMatchObject({ aborted: true, result: { status: "aborted", exitCode: 143 } });
  expect(code).toBe(143);
});

test("begins with the session's header, then tells every event; agent_settled comes last", async () => {
  await using dir = tmp();
  const { records, code } = await run([hello], [], { cwd: dir.path });
  expect(records[0]).toEqual({
    type: "session",
    version: 3,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    cwd: dir.path,
  });
  expect(typesOf(records)).toEqual([
    "session",
    "agent_start",
    "turn_start",
    ...["message_start", "message_end"],
    ...["message_start", "message_end"],
    ...["message_start", "message_update", "message_end"],
    "turn_end",
    "agent_end",
    "agent_settled",
  ]);
  expect(records.at(-1)).toEqual({
    type: "agent_settled",
    aborted: false,
    result: expect.objectContaining({ status: "done", exitCode: 0, reason: null, text: "Hello from the model." }),
  });
  expect(code).toBe(0);
});

test.each([
  ["the null device", [], { stdin: "null" }],
  ["an empty pipe", [], { stdin: "empty" }],
  ["a pipe that stays open", [], { stdin: "open" }],
  ["-p beside it", ["-p"], {}],
] as const)("works without a terminal: %s", async (_name, args, options) => {
  const { records, code } = await run([hello], args, options);
  expect(records.at(-1)).toMatchObject({ type: "agent_settled" });
  expect(code).toBe(0);
});

test("--mode text is the print mode; another word is told", async () => {
  await using server = await startReplayServer([hello]);
  const text = await runCli(["--mode", "text", "hi"], { env: at(server.url) });
  expect([text.stdout, text.code]).toEqual(["Hello from the model.\n", 0]);
  const wrong = await runCli(["--mode", "xml", "hi"]);
  expect(wrong).toMatchObject({ stdout: "", code: 2 });
  expect(wrong.stderr).toContain("--mode must be one of text, json, rpc, not 'xml'");
});

test("--mode text is the print mode on a terminal too", async () => {
  await using server = await startReplayServer([hello]);
  await using pty = await startPty(["--mode", "text", "hi"], { env: at(server.url) });
  expect(await pty.exited()).toBe(0);
  expect(pty.text).toContain("Hello from the model.");
});

test("a failure is in the answer's message, in the last record and in the exit code", async () => {
  const error = { error: { message: "no such model", type: "invalid_request_error" } };
  const { records, code, stderr } = await run([refusal(400, error)]);
  const answer = records.findLast(({ type }) => type === "message_end").message;
  expect(answer).toMatchObject({
    role: "assistant",
    stopReason: "error",
    errorMessage: expect.stringContaining("no such model"),
  });
  expect(records.at(-1)).toEqual({
    type: "agent_settled",
    aborted: false,
    error: expect.objectContaining({ code: "bad_request", message: expect.stringContaining("no such model") }),
    result: expect.objectContaining({ status: "error", exitCode: 1 }),
  });
  expect(code).toBe(1);
  expect(stderr).toContain("no such model");
});

test.each([
  ["a key that is refused", refusal(401, {}), "auth"],
  ["too many requests", refusal(429, {}), "rate_limit"],
  ["a server that fails", refusal(500, {}), "server"],
  ["a connection that is refused", "refuse", "network"],
] as const)("the last record and the exit code say the same of %s", async (_name, reply, code) => {
  const result = await run([reply], ["--max-retries", "0"]);
  expect(result.records.at(-1)).toMatchObject({ type: "agent_settled", aborted: false, error: { code } });
  expect(result.code).toBe(1);
});

test("a limit that ends the run is in the last record too", async () => {
  const { records, code } = await run([bash("true")], ["--yolo", "--max-turns", "1"]);
  expect(records.at(-1).error).toMatchObject({ code: "turn_limit" });
  expect(code).toBe(1);
});

test("a call that nobody could allow is in the last record", async () => {
  const { records } = await run([bash("echo hi"), hello]);
  expect(records.at(-1).deniedCalls).toEqual([
    { toolCallId: "c1", toolName: "bash", summary: "echo hi", reason: expect.stringContaining("nobody can be asked") },
  ]);
});

test("retries, notices and a project's settings leave no other line on stdout", async () => {
  await using dir = tmp();
  const { cwd } = createPlace({ cwd: dir.path });
  Bun.spawnSync(["mkdir", ".pi-ts"], { cwd });
  writeFileSync(dir.file(".pi-ts/config.toml"), 'model = "x"\n');
  const busy = refusal(503, { error: { message: "busy" } }, { "retry-after": "0" });
  const { records, stderr } = await run([busy, hello], [], { cwd });
  expect(stderr).toContain("is not in force");
  expect(typesOf(records).filter((type) => type.startsWith("auto_retry"))).toEqual([
    "auto_retry_start",
    "auto_retry_end",
  ]);
});

test("line separators of Unicode stay inside their record, in answers and in a tool's output", async () => {
  const { records } = await run(
    [bash("printf 'a\\342\\200\\250b\\342\\200\\251c'"), { turn: { text: "x\u2028y\u2029z" } }],
    ["--yolo"],
  );
  const end = records.find(({ type }) => type === "tool_execution_end");
  expect(end.result.structuredContent.output).toBe("a\u2028b\u2029c");
  expect(records.at(-3).message.content).toEqual([{ type: "text", text: "x\u2028y\u2029z" }]);
});

test("output grows with the answer, not with its square", async () => {
  const size = async (deltas: number) => {
    const body = [
      ...Array.from({ length: deltas }, (_, i) => textDelta(`${i} `.padEnd(20, "."))),
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    ];
    const { stdout, records } = await run([{ body: body.join("") }], ["--no-session"]);
    const text = records.flatMap((record) => record.assistantMessageEvent?.delta ?? []).join("");
    expect(records.at(-3).message.content[0].text).toBe(text);
    expect(text).toHaveLength(deltas * 20);
    return stdout.length;
  };
  const [small, large] = [await size(500), await size(1000)];
  expect(large / small).toBeLessThan(2.1);
});

describe("a reader that goes away", () => {
  test("ends the run also while there is nothing to tell", async () => {
    await using dir = tmp();
    await using server = await startReplayServer([bash("echo $$ > pid; exec sleep 300")]);
    const script =
      '("$0" --mode json --yolo --result result hi; echo $? > code) | until test -s pid; do sleep 0.01; done';
    const { home } = createPlace({ cwd: dir.path });
    const options = { cwd: dir.path, env: cleanEnv(home, at(server.url)), stdin: "ignore", stderr: "pipe" } as const;
    const child = Bun.spawn(["bash", "-c", script, binaryPath()], options);
    await child.exited;
    expect(readFileSync(dir.file("code"), "utf8")).toBe("1\n");
    expect(await child.stderr.text()).toBe("");
    expect(JSON.parse(readFileSync(dir.file("result"), "utf8"))).toMatchObject({
      status: "error",
      reason: { code: "output", message: expect.stringContaining("EPIPE") },
    });
    await waitUntil(() => !runs(dir.file("pid")), "the tool ended");
  });

  test("ends the run at once, its tools with it", async () => {
    await using dir = tmp();
    await using server = await startReplayServer([
      bash("echo $$ > pid; echo beginning; while :; do date +%N; sleep 0.05; done"),
    ]);
    // The shell's own code tells how the binary ended.
    const script = '("$0" --mode json --yolo hi; echo $? > code) | grep -m 1 -q text.:.beginning';
    const { home } = createPlace({ cwd: dir.path });
    const child = Bun.spawn(["bash", "-c", script, binaryPath()], {
      cwd: dir.path,
      env: cleanEnv(home, at(server.url)),
      stdin: "ignore",
      stderr: "pipe",
    });
    await child.exited;
    expect(readFileSync(dir.file("code"), "utf8")).toBe("1\n");
    expect(await child.stderr.text()).toBe("");
    expect(existsSync(dir.file("pid"))).toBe(true);
    await waitUntil(() => !runs(dir.file("pid")), "the tool ended");
  });
});

describe("a signal", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s ends tools, is told in the last record, and exits with %i", async (signal, exitCode) => {
    await using dir = tmp();
    await using server = await startReplayServer([bash("echo $$ > pid; echo begun; sleep 300")]);
    const result = await runCli(["--mode", "json", "--yolo", "hi"], {
      env: at(server.url),
      cwd: dir.path,
      signalWhen: { when: '"text":"begun\\n"', signal },
    });
    const records = recordsOf(result.stdout);
    expect(records.at(-1)).toEqual({
      type: "agent_settled",
      aborted: true,
      result: expect.objectContaining({ status: "aborted", exitCode }),
    });
    expect(records.findLast(({ type }) => type === "message_end").message).toMatchObject({ stopReason: "aborted" });
    expect(result.code).toBe(exitCode);
    expect(existsSync(dir.file("pid"))).toBe(true);
    expect(runs(dir.file("pid"))).toBe(false);
  });

  test("a second time ends everything at once, also a tool that does not want to end", async () => {
    await using dir = tmp();
    // The events also hold the command itself, in which the word that is waited for must not stand.
    const stubborn = `trap 'echo to""ld' TERM; echo $$ > pid; echo begun; while :; do sleep 0.05; done`;
    await using server = await startReplayServer([bash(stubborn)]);
    await using cli = startCli(["--mode", "json", "--yolo", "hi"], { env: at(server.url), cwd: dir.path });
    await cli.waitFor('"text":"begun\\n"');
    cli.kill("SIGTERM");
    await cli.waitFor("told\\n");
    cli.kill("SIGINT");
    const { stdout, code } = await cli.exited;
    expect(code).toBe(143);
    expect(recordsOf(stdout).at(-1)?.type).not.toBe("agent_settled");
    await waitUntil(() => !runs(dir.file("pid")), "the tool ended");
  });

  test("counts although the parent ignored it", async () => {
    await using server = await startReplayServer(["silent"]);
    const { home, cwd, dir } = createPlace({});
    await using _ = dir;
    const script = "trap '' INT TERM HUP; exec \"$0\" --mode json hi";
    const child = Bun.spawn(["bash", "-c", script, binaryPath()], {
      cwd,
      env: cleanEnv(home, at(server.url)),
      stdio: ["ignore", "pipe", "ignore"],
    });
    await server.request(0);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(recordsOf(await child.stdout.text()).at(-1)).toMatchObject({
      type: "agent_settled",
      aborted: true,
      result: { status: "aborted", exitCode: 130 },
    });
  });

  test("while the model answers ends the answer", async () => {
    const { opened } = gate();
    await using server = await startReplayServer([{ body: [textDelta("half"), opened] }]);
    await using cli = startCli(["--mode", "json", "hi"], { env: at(server.url) });
    await cli.waitFor('"delta":"half"');
    cli.kill("SIGTERM");
    const { stdout, code } = await cli.exited;
    expect(recordsOf(stdout).at(-1)).toEqual({
      type: "agent_settled",
      aborted: true,
      result: expect.objectContaining({ status: "aborted", exitCode: 143 }),
    });
    expect(code).toBe(143);
  });
});
