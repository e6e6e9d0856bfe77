// Compaction in the compiled binary: overflow errors of every vendor, windows that are too small, and what people see of it.
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { chatTurn, textDelta } from "../helpers/chat-stream.ts";
import { gate, type RecordedRequest, type Reply, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";
import { conversation, openRepl } from "../repl/start-repl.ts";

const notes: Reply = { turn: { text: "## Goal\nthe notes", usage: { prompt: 100, completion: 20 } } };

/** A home whose config gives the model this window, and a folder to work in with files of 7,500 characters. */
function createPlace(dir: TmpDir, window = 128_000) {
  const [home, cwd] = [dir.file("home"), dir.file("work")];
  for (const folder of [home, `${home}/.pi-ts`, cwd]) mkdirSync(folder);
  writeConfig(home, window);
  for (const name of ["a", "b", "c", "d"]) writeFileSync(`${cwd}/${name}.txt`, `${`${name} `.repeat(50)}\n`.repeat(75));
  return { home, cwd };
}

function writeConfig(home: string, window: number): void {
  const models = `models = [{ id = "small", context_window = ${window} }]`;
  const tables = ["openai", "anthropic"].map((name) => `[providers.${name}]\n${models}\n`);
  writeFileSync(`${home}/.pi-ts/config.toml`, tables.join(""));
}

function at(url: string, provider = "openai") {
  const key = "sk-test-0123456789abcdef";
  return { PI_PROVIDER: provider, PI_MODEL: "small", PI_BASE_URL: url, OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key };
}

function reads(path: string, prompt?: number): Reply {
  const calls = [{ id: `r_${path}`, name: "read", arguments: { path: `${path}.txt` } }];
  return { turn: { calls, ...(prompt === undefined ? {} : { usage: { prompt, completion: 20 } }) } };
}

function isSummary(request: RecordedRequest | undefined): boolean {
  return request?.text.includes("You write the notes") ?? false;
}

/** The entries of the only session in a home. */
function storedEntries(home: string) {
  const root = `${home}/.pi-ts/sessions`;
  const [file = ""] = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  );
  const lines = readFileSync(`${root}/${file}`, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

describe("an overflow", () => {
  const message = (text: string) => refusal(400, { error: { message: text } });
  test.each<[string, string, Reply]>([
    ["openai", "by its code", refusal(400, { error: { code: "context_length_exceeded", message: "too long" } })],
    ["openai", "by OpenAI's words", message("This model's maximum context length is 262144 tokens. However, …")],
    ["openai", "by Ollama's words", message("prompt too long; exceeded max context length by 100918 tokens")],
    ["openai", "by Moonshot's words", message("Invalid request: Your request exceeded model token limit: 262144")],
    ["openai", "by status 413", refusal(413, "payload too large")],
    ["anthropic", "by Anthropic's words", message("prompt is too long: 267657 tokens > 200000 maximum")],
  ])("%s: told %s leads to one compaction and one repetition", async (provider, _name, overflow) => {
    await using dir = tmp();
    const place = createPlace(dir);
    await using server = await startReplayServer([reads("a"), overflow, notes, { turn: { text: "Done." } }]);
    const result = await runCli(["-p", "look at a"], { env: at(server.url, provider), ...place });
    expect([result.stdout, result.code]).toEqual(["Done.\n", 0]);
    expect(result.stderr).toMatch(/compacting the conversation\n {2}compacted: [\d,]+ → about [\d,]+ tokens\n/);
    expect(server.problems).toEqual([]);
    expect(server.requests.map(isSummary)).toEqual([false, false, true, false]);
    const last = server.requests[3]?.text;
    for (const word of ["the notes", "look at a", "a.txt"]) expect(last).toContain(word);
    expect(server.requests[2]?.body.tools).toBeUndefined();
  });

  test("again ends with one error that names the fixed part, and is asked no third time", async () => {
    await using dir = tmp();
    const place = createPlace(dir);
    const overflow = refusal(400, { error: { code: "context_length_exceeded" } });
    await using server = await startReplayServer([reads("a"), overflow, notes, overflow]);
    const result = await runCli(["-p", "look"], { env: at(server.url), ...place });
    expect([result.stdout, result.code]).toEqual(["", 1]);
    expect(result.stderr).toMatch(
      /error: 400: .*context_length_exceeded[\s\S]*the system prompt and the tools take about \d,\d\d\d of its 128,000 tokens/,
    );
    expect(server.requests).toHaveLength(4);
    expect(server.problems).toEqual([]);
  });

  test("of tokens per minute is none", async () => {
    await using dir = tmp();
    const place = createPlace(dir);
    const rate = refusal(429, { error: { message: "Too many tokens per minute: context length 9 > 8" } });
    await using server = await startReplayServer([reads("a"), rate]);
    const result = await runCli(["-p", "--max-retries", "0", "look"], { env: at(server.url), ...place });
    expect(result.code).toBe(1);
    expect(result.stderr).not.toContain("compact");
    expect(server.requests).toHaveLength(2);
  });
});

describe("a small window", () => {
  const script = (...prompts: number[]): Reply[] => ["a", "b", "c", "d"].map((path, i) => reads(path, prompts[i]));

  test("is kept to by compacting before a request that would not fit, and the session has the entry", async () => {
    await using dir = tmp();
    const place = createPlace(dir, 8000);
    const answers = [...script(), { turn: { text: "Done.", usage: { prompt: 4000, completion: 5 } } }];
    await using server = await startReplayServer((request) =>
      isSummary(request) ? notes : (answers.shift() as Reply),
    );
    const result = await runCli(["-p", "look at all"], { env: at(server.url), ...place });
    expect([result.stdout, result.code]).toEqual(["Done.\n", 0]);
    expect(result.stderr).toContain("compacting the conversation\n");
    expect(server.problems).toEqual([]);
    // Four bytes a token, as the estimate has it, with the answer inside the window too.
    for (const { text, body } of server.requests) {
      expect(text.length / 4 + (body.max_tokens ?? body.max_completion_tokens)).toBeLessThan(8400);
    }
    const entries = storedEntries(place.home);
    const ids = entries.map(({ id }) => id);
    const compaction = entries.find(({ type }) => type === "compaction");
    const firstKept = compaction.firstKeptEntryId;
    expect(compaction).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      summary: expect.stringMatching(/^## Goal\nthe notes/),
      firstKeptEntryId: expect.any(String),
      tokensBefore: expect.any(Number),
      details: { readFiles: expect.arrayContaining(["a.txt"]), modifiedFiles: [] },
      usage: { input: 100, output: 20 },
      systemMessage: { role: "system", toolsAdded: expect.any(Array) },
    });
    expect(ids).toContain(firstKept);
  });

  test("rescues a session of twice its size that goes on in it, with a summary made piece by piece", async () => {
    await using dir = tmp();
    const place = createPlace(dir);
    const rounds = Array.from({ length: 9 }, (_, i) => reads("abcd"[i % 4] as string));
    await using large = await startReplayServer([...rounds, { turn: { text: "One." } }]);
    await runCli(["-p", "look at everything"], { env: at(large.url), ...place });
    const before = (large.requests.at(-1)?.text.length ?? 0) / 4;
    expect(before).toBeGreaterThan(16_000);

    writeConfig(place.home, 8000);
    await using small = await startReplayServer((request) => (isSummary(request) ? notes : { turn: { text: "Two." } }));
    const result = await runCli(["-p", "-c", "go on"], { env: at(small.url), ...place });
    expect([result.stdout, result.code]).toEqual(["Two.\n", 0]);
    expect(small.problems).toEqual([]);
    for (const { text } of small.requests) expect(text.length / 4).toBeLessThan(8000);
    const [last] = small.requests.slice(-1).map(({ body }) => conversation(body));
    expect(last?.[0]).toContain("the notes");
    expect(last?.at(-1)).toBe("user: go on");

    // The next process finds the summary in the session and has no need of another.
    await using later = await startReplayServer([{ turn: { text: "Three." } }]);
    await runCli(["-p", "-c", "and on"], { env: at(later.url), ...place });
    expect(conversation(later.requests[0]?.body)).toEqual([...(last ?? []), "assistant: Two.", "user: and on"]);
  });

  test("tells nothing with --quiet, and is let alone with --no-auto-compact or auto_compact = false", async () => {
    await using dir = tmp();
    const place = createPlace(dir, 8000);
    const run = async (...flags: string[]) => {
      const answers: Reply[] = [...script(), { turn: { text: "Done." } }];
      await using server = await startReplayServer((request) =>
        isSummary(request) ? notes : (answers.shift() as Reply),
      );
      const { stderr, stdout } = await runCli(["-p", "--no-session", ...flags, "look"], {
        env: at(server.url),
        ...place,
      });
      expect(stdout).toBe("Done.\n");
      return { stderr, summaries: server.requests.filter(isSummary).length };
    };
    const quiet = await run("--quiet");
    expect(quiet.stderr).toBe("");
    expect(quiet.summaries).toBeGreaterThan(0);
    expect((await run("--no-auto-compact")).summaries).toBe(0);
    const path = `${place.home}/.pi-ts/config.toml`;
    writeFileSync(path, `auto_compact = false\n${readFileSync(path, "utf8")}`);
    expect((await run()).summaries).toBe(0);
  });

  test("that the system prompt and tools fill alone is told at once, without a request", async () => {
    await using dir = tmp();
    await using server = await startReplayServer([]);
    const result = await runCli(["-p", "--no-session", "hi"], { env: at(server.url), ...createPlace(dir, 1000) });
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/^error: .*the system prompt and the tools take about \d,\d\d\d of its 1,000 tokens/);
    expect(result.stderr).toContain("--tools");
    expect(server.requests).toEqual([]);
  });

  test("is warned of at 80 %, once", async () => {
    await using dir = tmp();
    const place = createPlace(dir, 100_000);
    await using server = await startReplayServer([
      ...script(70_000, 82_000, 84_000, 85_000),
      { turn: { text: "Done." } },
    ]);
    const { stderr } = await runCli(["-p", "look"], { env: at(server.url), ...place });
    expect(stderr.match(/The conversation fills 8\d % of the context/g)).toEqual([
      "The conversation fills 82 % of the context",
    ]);
  });
});

describe("in the REPL", () => {
  const settings = (place: { home: string; cwd: string }) => ({ ...place, env: { PI_MODEL: "small" } });

  test("/compact shows what it does, and the next request begins with the summary", async () => {
    await using dir = tmp();
    const { opened, open } = gate();
    const summary: Reply = { body: [opened, textDelta("the notes"), ...chatTurn({})] };
    const script: Reply[] = [
      { turn: { text: "One." } },
      { turn: { text: "Two." } },
      summary,
      { turn: { text: "Three." } },
    ];
    await using server = await startReplayServer(script);
    await using repl = await openRepl(server, settings(createPlace(dir)));
    await repl.ready();
    repl.enter("/compact");
    await repl.waitFor("Nothing to compact (session too small)");
    await repl.ready();
    repl.enter("first");
    await repl.waitFor("One.");
    await repl.ready();
    repl.enter("second");
    await repl.waitFor("Two.");
    await repl.ready();
    repl.enter("/compact mind the tests");
    await repl.waitFor("compacting the conversation");
    open();
    await repl.waitFor(/compacted: [\d,]+ → about [\d,]+ tokens/);
    await repl.ready();
    expect(server.requests[2]?.text).toContain("mind the tests");
    repl.enter("third");
    await repl.waitFor("Three.");
    expect(conversation(server.requests[3]?.body)).toEqual([
      "user: Summary of the conversation so far:\n\nthe notes",
      "user: second",
      "assistant: Two.",
      "user: third",
    ]);
    await repl.ready();
    repl.enter("/tokens");
    await repl.waitFor(/context window +128,000\r?\nused +[\d,]+ +\(\d+ %, estimated\)\r?\nleft +1[\d,]+/);
    expect(server.problems).toEqual([]);
  });

  test("Ctrl-C ends it, and the conversation is as it was", async () => {
    await using dir = tmp();
    const script: Reply[] = [
      { turn: { text: "One." } },
      { turn: { text: "Two." } },
      "silent",
      { turn: { text: "Three." } },
    ];
    await using server = await startReplayServer(script);
    await using repl = await openRepl(server, settings(createPlace(dir)));
    await repl.ready();
    repl.enter("first");
    await repl.waitFor("One.");
    await repl.ready();
    repl.enter("second");
    await repl.waitFor("Two.");
    await repl.ready();
    repl.enter("/compact");
    await server.request(2);
    repl.write("\x03");
    await repl.waitFor("Compaction stopped");
    await repl.ready();
    repl.enter("third");
    await repl.waitFor("Three.");
    expect(conversation(server.requests[3]?.body)).toEqual([
      ...["user: first", "assistant: One.", "user: second", "assistant: Two.", "user: third"],
    ]);
  });
});
