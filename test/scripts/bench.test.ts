// The bench: its command line, its server in the three APIs, a cheap row and the peers' lines. What is slow is measured, not tested.
import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { parseOptions } from "../../scripts/bench/options.ts";
import { prepareRepository, quickCommands, toShellScript } from "../../scripts/bench/repository.ts";
import { startServer } from "../../scripts/bench/start-server.ts";
import { binaryPath, runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

const bench = `${import.meta.dir}/../../scripts/bench.ts`;

async function runBench(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, PI_TS_BINARY: binaryPath() };
  const child = Bun.spawn([process.execPath, bench, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe", env });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

async function serve() {
  const { origin, stop } = await startServer({ flood: "true", tools: quickCommands });
  return { origin, [Symbol.dispose]: stop };
}

test.each([
  [[], { only: "", peers: false, peersDir: undefined }],
  [["start"], { only: "start", peers: false, peersDir: undefined }],
  [["--peers"], { only: "", peers: true, peersDir: undefined }],
  [["--peers-dir", "/"], { only: "", peers: true, peersDir: "/" }],
  [["--help"], "help"],
] as const)("the arguments %j are understood", (args, options) => {
  expect(parseOptions(args)).toEqual(options);
});

test.each([
  [["--pears"], "--pears"],
  [["one", "two"], "one name at most"],
  [["--peers-dir", "/no/such/folder"], "there is no folder /no/such/folder"],
])("the arguments %j are refused with the reason", (args, reason) => {
  expect(() => parseOptions(args)).toThrow(reason);
});

test("wrong arguments end with exit code 2 and the usage before anything is built", async () => {
  const { code, stdout, stderr } = await runBench("--pears");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("usage: bun run bench");
});

interface Streamed {
  readonly text: string;
  readonly arguments: string;
  readonly call: string;
  readonly end: string;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the server sent
type Events = readonly any[];

/** What a client of each API makes of its events. */
const clients: Readonly<Record<string, (events: Events) => Streamed>> = {
  "chat/completions": (events) => {
    const choices = events.flatMap((event) => event.choices);
    const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
    return {
      text: choices.map(({ delta }) => delta.content ?? "").join(""),
      arguments: calls.map((call) => call.function.arguments).join(""),
      call: calls[0]?.function.name ?? "",
      end: choices.at(-1).finish_reason,
    };
  },
  responses: (events) => {
    const join = (type: string) => events.flatMap((event) => (event.type === type ? event.delta : [])).join("");
    const { response } = events.at(-1);
    const [item] = response.output;
    const text = join("response.output_text.delta");
    const args = join("response.function_call_arguments.delta");
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    expect(item).toMatchObject(item.type === "message" ? { content: [{ text }] } : { arguments: args });
    return { text, arguments: args, call: item.name ?? "", end: response.status };
  },
  messages: (events) => {
    const deltas = events.flatMap((event) => (event.type === "content_block_delta" ? event.delta : []));
    const block = events.find((event) => event.type === "content_block_start").content_block;
    expect(events.at(-1)).toEqual({ type: "message_stop" });
    return {
      text: deltas.map((delta) => delta.text ?? "").join(""),
      arguments: deltas.map((delta) => delta.partial_json ?? "").join(""),
      call: block.name ?? "",
      end: events.at(-2).delta.stop_reason,
    };
  },
};

async function ask(url: string): Promise<Events> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify({ messages: [] }) });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const data = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map((match) => match[1] as string);
  return data.filter((line) => line !== "[DONE]").map((line) => JSON.parse(line));
}

test("the server gives the same answer and the same call in the words of all three APIs", async () => {
  using server = await serve();
  const ends = {
    "chat/completions": ["stop", "tool_calls"],
    responses: ["completed", "completed"],
    messages: ["end_turn", "tool_use"],
  };
  for (const [api, [stop, toolUse]] of Object.entries(ends)) {
    const read = clients[api]!;
    const text = read(await ask(`${server.origin}/short/v1/${api}`));
    expect(text).toEqual({ text: "word 0\nword 1\nword 2\n", arguments: "", call: "", end: stop! });
    const { arguments: args, ...call } = read(await ask(`${server.origin}/tools/v1/${api}`));
    expect(call).toEqual({ text: "", call: "bash", end: toolUse! });
    expect(JSON.parse(args)).toEqual({ command: quickCommands[0] });
  }
  expect((await fetch(`${server.origin}/short/v1/other`, { method: "POST", body: "{}" })).status).toBe(404);
});

test("the ten quick commands all run well, by pi-ts and by the shell that it is compared with", async () => {
  using server = await serve();
  await using dir = tmp();
  const repository = dir.file("repository");
  prepareRepository(repository);
  const script = toShellScript(quickCommands, dir.file("output.txt"));
  const shell = Bun.spawnSync(["sh", "-e", "-c", script], { cwd: repository });
  expect({ code: shell.exitCode, stderr: shell.stderr.toString() }).toEqual({ code: 0, stderr: "" });
  const printed = await Bun.file(dir.file("output.txt")).text();

  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "bench", PI_BASE_URL: `${server.origin}/tools/v1` };
  const run = await runCli(["--mode", "json", "--yolo", "--no-session", "hi"], { env, cwd: repository });
  const records = run.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const ends = records.filter(({ type }) => type === "tool_execution_end");
  expect(ends.map(({ isError }) => isError)).toEqual(quickCommands.map(() => false));
  // Behind what was printed stands how the command ended.
  const answered = ends.map(({ result }) => result.content[0].text.replace("[exit code 0]", "")).join("\n");
  expect(new Set(answered.split("\n").filter(Boolean))).toEqual(new Set(printed.split("\n").filter(Boolean)));
});

test("a row is printed beside its floor", async () => {
  const { code, stdout } = await runBench("size");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^size of the program +size +\d+\.\d MB +\d+\.\d MB +\d\.\d\d×$/m);
}, 30_000);

test("peers are measured with their versions, and one that cannot be driven is a line with the reason", async () => {
  await using dir = tmp();
  const put = (name: string, script: string) => {
    writeFileSync(dir.file(name), `#!/bin/sh\n${script}\n`);
    chmodSync(dir.file(name), 0o755);
  };
  const version = 'if [ "$1" = --version ]; then echo "agent 9.8.7"; exit; fi';
  put("pi", `${version}\ngrep -q /short/v1 "$HOME/.pi/agent/models.json" && echo "word 2"`);
  put("codex", `${version}\necho "no such model" >&2; exit 3`);
  put("claude", `${version}\necho "something else"`);
  put("opencode", "exit 1");
  const { code, stdout } = await runBench("one-shot:", "--peers-dir", dir.path);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^one-shot: pi 9\.8\.7 +wall .* ms +[\d.]+ \/ [\d.]+ ms +[\d.]+× faster +≥ 12× +missed$/m);
  expect(stdout).toMatch(/^one-shot: codex +not measured: .*ended with 3: no such model$/m);
  expect(stdout).toMatch(/^one-shot: claude +not measured: it did not print the answer, but: something else$/m);
  expect(stdout).toMatch(/^one-shot: opencode +not measured: .*--version ended with 1/m);
}, 30_000);
