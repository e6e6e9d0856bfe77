// `--fallback` of the compiled binary: when a model stays out of reach, the run goes on with the next one.
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { signature } from "../helpers/messages-stream.ts";
import { type Reply, refusal, type Script, startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

const hello: Reply = { turn: { text: "Hello from the second." } };
const busy = refusal(503, { error: { message: "all engines are busy" } });

/** Three servers of three providers; the first speaks Anthropic's API. */
async function run(scripts: readonly Script[], args: readonly string[]) {
  await using first = await startReplayServer(scripts[0] ?? []);
  await using second = await startReplayServer(scripts[1] ?? []);
  await using third = await startReplayServer(scripts[2] ?? []);
  await using dir = tmp();
  mkdirSync(dir.file("home/.pi-ts"), { recursive: true });
  const table = (name: string, url: string, api: string) =>
    `[providers.${name}]\nbase_url = "${url}"\napi = "${api}"\nmodels = ["m"]\n`;
  writeFileSync(
    dir.file("home/.pi-ts/config.toml"),
    table("one", first.url, "anthropic-messages") +
      table("two", second.url, "openai-completions") +
      table("three", third.url, "anthropic-messages"),
  );
  const all = ["--provider", "one", "--max-retries", "0", "--session-dir", dir.file("sessions"), ...args];
  const result = await runCli(all, { home: dir.file("home") });
  const [folder = ""] = readdirSync(dir.path).includes("sessions") ? readdirSync(dir.file("sessions")) : [];
  const [file = ""] = folder === "" ? [] : readdirSync(dir.file(`sessions/${folder}`));
  const session = file === "" ? "" : readFileSync(dir.file(`sessions/${folder}/${file}`), "utf8");
  expect([...first.problems, ...second.problems, ...third.problems]).toEqual([]);
  const sent = [first, second, third].map(({ requests }) => requests.map(({ body }) => body));
  return { ...result, sent, session };
}

function records(stdout: string) {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

test.each<[string, Reply]>([
  ["an overload", busy],
  ["a rate limit", refusal(429, { error: { message: "slow down" } })],
  ["an outage", refusal(500, { error: { message: "internal error" } })],
  ["a broken network", "refuse"],
])("%s: the next model answers, said on stderr", async (_name, failure) => {
  const { stdout, stderr, code, sent } = await run([[failure], [hello]], ["-p", "--fallback", "two/m", "hi"]);
  expect([stdout, code]).toEqual(["Hello from the second.\n", 0]);
  expect(stderr).toContain("one/m does not answer; going on with two/m");
  expect(sent.map(({ length }) => length)).toEqual([1, 1, 0]);
});

test("repetitions come first, and the events and stderr tell of it", async () => {
  const args = ["--mode", "json", "--fallback", "two/m", "--max-retries", "1", "hi"];
  const { stdout, stderr, code, session } = await run([[busy, busy], [hello]], args);
  const all = records(stdout);
  expect(all.filter(({ type }) => /^(auto_retry|model_fallback|agent_)/.test(type)).map(({ type }) => type)).toEqual([
    "agent_start",
    "agent_end",
    "auto_retry_start",
    "agent_start",
    "auto_retry_end",
    "agent_end",
    "model_fallback",
    "agent_start",
    "agent_end",
    "agent_settled",
  ]);
  expect(all.find(({ type }) => type === "model_fallback")).toEqual({
    type: "model_fallback",
    from: { provider: "one", modelId: "m" },
    to: { provider: "two", modelId: "m" },
    errorMessage: expect.stringContaining("all engines are busy"),
  });
  expect(all.at(-1)).toMatchObject({ aborted: false, result: { status: "done", model: "two/m" } });
  const changes = records(session).filter(({ type }) => type === "model_change");
  expect(changes.map(({ provider }) => provider)).toEqual(["one", "two"]);
  expect(stderr).toContain("one/m does not answer; going on with two/m");
  expect(code).toBe(0);
});

test("in the middle of the work: tool rounds stay, and what only the first provider understands stays with it", async () => {
  const call = { id: "toolu_01A", name: "ls", arguments: {} };
  const thoughts: Reply = { turn: { reasoning: "Deep thoughts.", calls: [call] } };
  const work: Reply = { turn: { calls: [{ id: "call|2", name: "ls", arguments: {} }] } };
  const scripts = [[thoughts, busy], [work, busy], [{ turn: { text: "Done by the third." } } as Reply]];
  const { stdout, code, sent } = await run(scripts, ["-p", "--fallback", "two/m,three/m", "hi"]);
  expect([stdout, code]).toEqual(["Done by the third.\n", 0]);
  expect(JSON.stringify(sent[0]?.[1])).toContain(signature);
  // The second one gets the call with its result, and nothing of the first one's thoughts.
  const [second, third] = [sent[1]?.[0], sent[2]?.[0]];
  expect(JSON.stringify(second)).not.toMatch(new RegExp(`${signature}|Deep thoughts`));
  expect(second.messages.map(({ role }: { role: string }) => role)).toEqual(["system", "user", "assistant", "tool"]);
  expect(second.messages[2].tool_calls[0].id).toBe(second.messages[3].tool_call_id);
  // The third one takes no ids such as the second one's.
  expect(JSON.stringify(third)).not.toMatch(new RegExp(`${signature}|Deep thoughts|call\\|2`));
  const uses = third.messages.flatMap(
    ({ content }: { content: { type: string; id?: string; tool_use_id?: string }[] }) =>
      content.flatMap((block) =>
        block.type === "tool_use" ? [block.id] : block.type === "tool_result" ? [block.tool_use_id] : [],
      ),
  );
  expect(uses).toEqual([uses[0], uses[0], uses[2], uses[2]]);
});

test("a compaction that fails so hands over too, before the request and after an overflow", async () => {
  const table = (name: string, url: string, window: number) =>
    `[providers.${name}]\nbase_url = "${url}"\nmodels = [{ id = "m", context_window = ${window} }]\n`;
  const flood = (bytes: number): Reply => {
    const command = `head -c ${bytes} /dev/zero | tr '\\0' x`;
    return {
      turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }], usage: { prompt: 6000, completion: 10 } },
    };
  };
  const overflow = refusal(400, { error: { code: "context_length_exceeded", message: "too long" } });
  for (const script of [
    [flood(40_000), busy],
    [flood(2000), overflow, busy],
  ]) {
    await using first = await startReplayServer(script);
    await using second = await startReplayServer([hello]);
    await using dir = tmp();
    mkdirSync(dir.file("home/.pi-ts"), { recursive: true });
    writeFileSync(
      dir.file("home/.pi-ts/config.toml"),
      table("one", first.url, 9000) + table("two", second.url, 100_000),
    );
    const args = [
      "-p",
      "--yolo",
      "--max-tokens",
      "500",
      "--max-retries",
      "0",
      "-m",
      "one/m",
      "--fallback",
      "two/m",
      "hi",
    ];
    const { stdout, stderr, code } = await runCli(args, { home: dir.file("home") });
    expect([stdout, code]).toEqual(["Hello from the second.\n", 0]);
    // Only the request for the summary, the last one, has no tools.
    expect(first.requests.map(({ body }) => "tools" in body)).toEqual(script.map((_, i) => i < script.length - 1));
    expect(stderr).toContain("one/m does not answer; going on with two/m");
    expect([...first.problems, ...second.problems]).toEqual([]);
  }
});

test("it sticks: the first model is not asked again", async () => {
  const ls: Reply = { turn: { calls: [{ id: "c1", name: "ls", arguments: {} }] } };
  const { sent, code } = await run([[busy], [ls, hello]], ["-p", "--fallback", "two/m", "hi"]);
  expect(sent.map(({ length }) => length)).toEqual([1, 2, 0]);
  expect(code).toBe(0);
});

test("when all of them fail, the last failure is the error", async () => {
  const other = refusal(503, { error: { message: "also busy" } });
  const { stdout, stderr, code } = await run([[busy], [other]], ["-p", "--fallback", "two/m", "hi"]);
  expect([stdout, code]).toEqual(["", 1]);
  expect(stderr).toMatch(/error: 503: .*also busy/);
});

test.each<[string, Reply]>([
  ["a wrong key", refusal(401, { error: { message: "invalid x-api-key" } })],
  ["a wrong request", refusal(400, { error: { message: "no such field" } })],
  ["a quota that is used up", refusal(429, { error: { message: "insufficient_quota" } })],
])("%s is no reason to ask another model", async (_name, failure) => {
  const { code, sent } = await run([[failure], [hello]], ["-p", "--fallback", "two/m", "hi"]);
  expect([code, sent[1]?.length]).toEqual([1, 0]);
});

describe("at the start", () => {
  test.each([
    [["--fallback", "kimi/kimi-k3"], "--fallback kimi/kimi-k3: No API key for provider kimi: set $MOONSHOT_API_KEY"],
    [["--fallback", "two/m,nobody/x"], "--fallback nobody/x: Unknown provider 'nobody'"],
    [["--fallback", "m"], "--fallback m: A model is named by its provider and its id"],
    [["--fallback", "two/m:high"], "--fallback two/m:high: a model that takes over thinks as much as the run does"],
    [["--fallback", ","], "--fallback names no model"],
    [["--fallback", "two/m", "--record", "r.jsonl"], "--fallback and --record exclude each other"],
    [["--fallback", "two/m", "--max-cost", "1"], "The cost limit cannot be kept: what one/m costs is not known"],
  ])("%j is a usage error", async (args, message) => {
    const { stderr, code, sent } = await run([[hello]], ["-p", ...args, "hi"]);
    expect(stderr).toContain(message);
    expect([code, sent[0]?.length]).toEqual([2, 0]);
  });
});
