// The compiled binary with its default provider: Anthropic's Messages API from the first request to the last.
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { signature } from "../helpers/messages-stream.ts";
import { type Reply, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { type CliOptions, runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { messagesWire, testKey } from "../helpers/wire.ts";

const mark = { cache_control: { type: "ephemeral" } };
const done: Reply = { turn: { text: "Done." } };
const rounds: Reply[] = [
  {
    turn: {
      reasoning: "First I look.",
      text: "Let me look.",
      calls: [{ id: "toolu_01", name: "read", arguments: { path: "a.txt" } }],
      usage: { prompt: 100, completion: 5 },
    },
  },
  {
    turn: {
      calls: [
        { id: "toolu_02", name: "edit", arguments: { path: "a.txt", old_string: "one", new_string: "two" } },
        { id: "toolu_03", name: "bash", arguments: { command: "cat a.txt; true" } },
      ],
    },
  },
];

/** The default provider: nothing is set but its key and where it is. */
function env(url: string) {
  return { ANTHROPIC_API_KEY: testKey, PI_BASE_URL: url };
}

async function run(script: readonly Reply[], args: readonly string[] = [], options: CliOptions = {}) {
  await using dir = tmp();
  writeFileSync(dir.file("a.txt"), "one\n");
  await using server = await startReplayServer(script);
  const result = await runCli(["-p", "--yolo", ...args, "go"], { cwd: dir.path, ...options, env: env(server.url) });
  expect(server.problems).toEqual([]);
  return { ...result, requests: server.requests };
}

test("several tool turns end with the answer alone on stdout", async () => {
  const { stdout, stderr, code, requests } = await run([...rounds, done]);
  expect({ stdout, code }).toEqual({ stdout: "Done.\n", code: 0 });
  expect(stderr).toStartWith("→ read a.txt\n→ edit a.txt\n→ bash cat a.txt; true\n");
  expect(requests.map(({ path }) => path)).toEqual(Array(3).fill("/v1/messages"));
  expect(requests[0]?.headers).toMatchObject({ "x-api-key": testKey, "anthropic-version": "2023-06-01" });
  expect(requests[0]?.headers).not.toHaveProperty("authorization");
  expect(messagesWire.outline(requests[2]?.body)).toEqual([
    "user go",
    "assistant (First I look.) Let me look. +toolu_01",
    "result toolu_01      1\tone",
    "assistant +toolu_02 +toolu_03",
    expect.stringMatching(/^result toolu_02 /),
    expect.stringMatching(/^result toolu_03 .*two/s),
  ]);
});

test("thinking goes back with its signature, and neither to stdout nor to stderr", async () => {
  const { stdout, stderr, requests } = await run([...rounds, done]);
  for (const { body } of requests.slice(1)) {
    expect(body.messages[1].content[0]).toEqual({ type: "thinking", thinking: "First I look.", signature });
  }
  expect(stdout + stderr).not.toContain("First I look");
});

test("prompt, tools and the last two turns of the user carry cache marks", async () => {
  const { requests } = await run([...rounds, done]);
  const { system, tools, messages } = requests[2]?.body ?? {};
  expect(system.at(-1)).toMatchObject(mark);
  expect(tools.at(-1)).toMatchObject(mark);
  const marked = messages.map(({ content }: { content: object[] }) => content.map((block) => "cache_control" in block));
  expect(marked).toEqual([[false], [false, false, false], [true], [false, false], [false, true]]);
});

test("an overloaded server is asked again, and the finished rounds stay", async () => {
  const overloaded = refusal(
    529,
    { error: { type: "overloaded_error", message: "Overloaded" } },
    { "retry-after": "0" },
  );
  const { stdout, stderr, code, requests } = await run([...rounds, overloaded, overloaded, done]);
  expect({ stdout, code }).toEqual({ stdout: "Done.\n", code: 0 });
  expect(stderr.match(/529: .*Overloaded/g)).toHaveLength(2);
  expect(stderr).toContain("(2 of 3)");
  expect(requests[4]?.text).toBe(requests[2]?.text as string);
});

test("a wait that the server asks for is kept", async () => {
  const { stdout, code, stderr } = await run([refusal(429, {}, { "retry-after": "0.2" }), done]);
  expect({ stdout, code }).toEqual({ stdout: "Done.\n", code: 0 });
  expect(stderr).toMatch(/trying again in 2\d\d ms \(1 of 3\)/);
});

test("--max-retries 0 asks once", async () => {
  const { code, stderr, requests } = await run([refusal(529, {}, { "retry-after": "0" })], ["--max-retries", "0"]);
  expect({ code, asked: requests.length }).toEqual({ code: 1, asked: 1 });
  expect(stderr).not.toContain("trying again");
});

test("what the server says of a key is shown without it", async () => {
  const { code, stderr } = await run([refusal(401, { error: { message: `invalid x-api-key: ${testKey}` } })]);
  expect(code).toBe(1);
  expect(stderr).toContain("[key hidden]");
  expect(stderr).not.toContain(testKey);
});

describe("one line of config.toml", () => {
  test("changes to the compatible endpoint", async () => {
    await using home = tmp();
    mkdirSync(home.file(".pi-ts"));
    writeFileSync(home.file(".pi-ts/config.toml"), '[providers.anthropic]\napi = "openai-completions"\n');
    const { stdout, code, requests } = await run([...rounds, done], [], { home: home.path });
    expect({ stdout, code }).toEqual({ stdout: "Done.\n", code: 0 });
    expect(requests.map(({ path }) => path)).toEqual(Array(3).fill("/v1/chat/completions"));
    expect(requests[0]?.headers).toMatchObject({ authorization: `Bearer ${testKey}` });
    expect(requests[2]?.body.messages.slice(2, 4)).toMatchObject([
      { role: "assistant", content: "Let me look.", reasoning_content: "First I look." },
      { role: "tool", tool_call_id: "toolu_01" },
    ]);
  });
});
