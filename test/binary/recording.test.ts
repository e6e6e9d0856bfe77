// Recording and replaying the compiled binary's traffic: the same run again, without network and without a key.
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Reply, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";
import { reach, testKey, type Wire, wires } from "../helpers/wire.ts";

const readIt: Reply = {
  turn: { reasoning: "hm", text: "Looking.", calls: [{ id: "c1", name: "read", arguments: { path: "a.txt" } }] },
};
const answer: Reply = { turn: { text: "It says 北🌍, key-generation-function and org-mode-configuration." } };
const busy = refusal(529, { error: { message: "busy" } }, { "retry-after": "0" });

function project(dir: TmpDir): void {
  writeFileSync(dir.file("a.txt"), "北🌍 key-generation-function\n");
}

async function record(wire: Wire, dir: TmpDir, script: readonly Reply[], args: readonly string[] = []) {
  project(dir);
  await using server = await startReplayServer(script);
  const flags = ["-p", "--record", "run.jsonl", ...args, "what is in a.txt?"];
  const result = await runCli(flags, { env: reach(wire, server.url), cwd: dir.path });
  return { ...result, file: readFileSync(dir.file("run.jsonl"), "utf8") };
}

/** With no key, and an address where nobody is. */
async function replay(wire: Wire, path: string, args: readonly string[] = [], task = "what is in a.txt?") {
  await using elsewhere = tmp();
  project(elsewhere);
  const env = { PI_PROVIDER: wire.provider, PI_BASE_URL: "http://127.0.0.1:1/v1" };
  return await runCli(["-p", "--replay", path, ...args, task], { env, cwd: elsewhere.path });
}

/** Each run is a session of its own. */
function withoutIds(text: string): string {
  return text.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>");
}

describe.each(wires)("$name", (wire) => {
  test("a run with a tool and a retry is the same again, in another folder, without network and key", async () => {
    await using dir = tmp();
    const recorded = await record(wire, dir, [readIt, busy, answer]);
    expect(recorded).toMatchObject({
      stdout: "It says 北🌍, key-generation-function and org-mode-configuration.\n",
      code: 0,
    });
    const { stdout, stderr, code } = await replay(wire, dir.file("run.jsonl"));
    expect({ stdout, code }).toEqual({ stdout: recorded.stdout, code: 0 });
    expect(withoutIds(stderr)).toBe(withoutIds(recorded.stderr));
  });

  test("its file is its owner's alone and holds no key, however the server echoes it", async () => {
    await using dir = tmp();
    const headers = `authorization: Bearer ${testKey}, x-api-key: ${testKey}`;
    const [half, rest] = [headers.slice(0, 35), headers.slice(35)];
    const inPieces: Reply = {
      body: [`: ${half}`, rest, "\n\n", wire.error("overloaded_error", `no room for ${testKey}, try again in 0 s`)],
    };
    const refused = refusal(529, { error: { message: headers } }, { "retry-after": "0", "x-echo": headers });
    const notUtf8: Reply = { body: [Buffer.from(`: \xff ${headers}\n\n`, "latin1"), ...wire.firstWord] };
    const { file, code } = await record(wire, dir, [inPieces, refused, notUtf8], ["--max-retries", "2"]);
    expect(code).toBe(1);
    expect(statSync(dir.file("run.jsonl")).mode & 0o777).toBe(0o600);
    const decoded = file.replace(/"base64":"([^"]*)"/g, (_all, text) => Buffer.from(text, "base64").toString("latin1"));
    for (const hidden of [testKey, "0123456789", "abcdef\\b", "Bearer sk"]) expect(decoded).not.toContain(hidden);
    expect(file.match(/"type":"request"/g)).toHaveLength(3);
  });

  test("a key that stands in a file, and a header that is none, change nothing about the replay", async () => {
    await using dir = tmp();
    await using server = await startReplayServer([readIt, { turn: { text: "run pi-ts now" } }]);
    writeFileSync(dir.file("a.txt"), `pi-ts password=${testKey}\n`);
    mkdirSync(dir.file("home/.pi-ts"), { recursive: true });
    const table = `[providers.${wire.provider}]\nheaders = { "X-Title" = "pi-ts", "X-Team" = "$TEAM" }\n`;
    writeFileSync(dir.file("home/.pi-ts/config.toml"), table);
    const options = { cwd: dir.path, home: dir.file("home") };
    const task = ["-p", "what is in a.txt?"];
    const env = { ...reach(wire, server.url), TEAM: "team-secret-1" };
    const recorded = await runCli([...task, "--record", "run.jsonl"], { ...options, env });
    expect(recorded).toMatchObject({ code: 0, stdout: "run pi-ts now\n" });
    expect(readFileSync(dir.file("run.jsonl"), "utf8")).not.toContain(testKey);
    for (const keys of [{}, { [wire.keyEnv]: testKey }, { [wire.keyEnv]: "sk-another-key-0123456789" }]) {
      const env = { PI_PROVIDER: wire.provider, TEAM: "another", ...keys };
      const again = await runCli([...task, "--replay", "run.jsonl"], { ...options, env });
      expect(again).toMatchObject({ code: 0, stdout: "run pi-ts now\n" });
    }
  });

  test("a recorded wait is not waited for again", async () => {
    await using dir = tmp();
    const file = [
      { type: "request" },
      { type: "response", status: 429, headers: { "retry-after": "60" } },
      { type: "end", ms: 1 },
      { type: "request" },
      { type: "response", status: 200, headers: { "content-type": "text/event-stream" } },
      { type: "chunk", ms: 1, text: wire.whole("ok").join("") },
      { type: "end", ms: 60_000 },
    ];
    writeFileSync(dir.file("run.jsonl"), file.map((line) => JSON.stringify(line)).join("\n"));
    const { code, stdout, stderr } = await replay(wire, dir.file("run.jsonl"));
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ok\n" });
    expect(stderr).toContain("trying again in 0 ms (1 of 3)");
  });

  test("a request that differs fails at once, showing where", async () => {
    await using dir = tmp();
    await record(wire, dir, [readIt, answer]);
    const { stdout, stderr, code } = await replay(wire, dir.file("run.jsonl"), [], "what is in b.txt?");
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toContain("Request 1 differs from the recording at messages");
    expect(stderr).toMatch(/recorded ".*a\.txt.*", now ".*b\.txt/);
    expect(stderr).not.toContain("trying again");
  });

  test("a file that changed in between is told as a difference of the second request", async () => {
    await using dir = tmp();
    await record(wire, dir, [readIt, answer]);
    await using elsewhere = tmp();
    writeFileSync(elsewhere.file("a.txt"), "something else\n");
    const env = { PI_PROVIDER: wire.provider };
    const flags = ["-p", "--replay", dir.file("run.jsonl"), "what is in a.txt?"];
    const { stderr, code } = await runCli(flags, { env, cwd: elsewhere.path });
    expect(code).toBe(1);
    expect(stderr).toContain("Request 2 differs from the recording at messages");
    expect(stderr).toContain("something else");
  });

  test.each<[string, Reply, string]>([
    ["a refusal", refusal(400, { error: { message: "no such model" } }), "no such model"],
    ["a stream that breaks off", { body: wire.half }, "The connection closed in the middle of the answer"],
    ["an error inside a stream", { body: [...wire.half, wire.error("api_error", "upstream broke")] }, "upstream broke"],
    ["a connection that is refused", "refuse", "Could not reach"],
  ])("%s is the same error again", async (_name, reply, words) => {
    await using dir = tmp();
    const recorded = await record(wire, dir, [reply], ["--max-retries", "0"]);
    const again = await replay(wire, dir.file("run.jsonl"), ["--max-retries", "0"]);
    for (const { code, stdout, stderr } of [recorded, again]) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(words);
    }
  });
});

describe("a file", () => {
  test("that exists is left as it is", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("run.jsonl"), "mine");
    await using server = await startReplayServer([]);
    const env = reach({ provider: "openai", keyEnv: "OPENAI_API_KEY" }, server.url);
    const { code, stderr } = await runCli(["-p", "--record", "run.jsonl", "hi"], { env, cwd: dir.path });
    expect({ code, asked: server.requests.length }).toEqual({ code: 2, asked: 0 });
    expect(stderr).toContain("run.jsonl exists already");
    expect(readFileSync(dir.file("run.jsonl"), "utf8")).toBe("mine");
  });

  test("cannot be recorded and replayed at once", async () => {
    const { code, stderr } = await runCli(["-p", "--record", "a", "--replay", "b", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--record and --replay exclude each other");
  });

  test.each([
    ["that is not there", undefined, 2, "Cannot read the recording"],
    ["that is a pipe nobody writes to", "FIFO", 2, "it is not a regular file"],
    ["of garbage", "\u0000\u0001 garbage", 2, "run.jsonl:1: not JSON"],
    ["of other JSON", '{"type":"request"}\n[1]\n', 2, "run.jsonl:2: not a line of a recording"],
    [
      "with a status that is none",
      '{"type":"request"}\n{"type":"response","status":7,"headers":{}}\n',
      2,
      "run.jsonl:2",
    ],
    ["that begins in the middle", '{"type":"end","ms":1}\n', 2, "run.jsonl:1: 'end' before any request"],
    ["that is empty", "", 1, "The recording ends after 0 requests"],
    ["that stops behind a request", '{"type":"request"}\n', 1, "interrupted before the answer to request 1"],
  ])("%s is one clear error", async (_name, text, expected, words) => {
    await using dir = tmp();
    if (text === "FIFO") Bun.spawnSync(["mkfifo", dir.file("run.jsonl")]);
    else if (text !== undefined) writeFileSync(dir.file("run.jsonl"), text);
    const { code, stdout, stderr } = await runCli(["-p", "--replay", join(dir.path, "run.jsonl"), "hi"]);
    expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
    expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/bug in pi-ts|\n {4}at /);
  });
});
