// RPC mode: whatever comes on stdin is answered or passed over, and never ends it.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { randomLines } from "../helpers/random-lines.ts";
import type { Reply } from "../helpers/replay-server.ts";
import { connect, type RpcRecord, startRpc } from "../helpers/rpc-client.ts";
import { binaryPath, cleanEnv } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

const hello: Reply = { turn: { text: "Hello." } };
const key = { ANTHROPIC_API_KEY: "sk-x" };

const failure = (id: string | undefined, command: string, error: unknown) => ({
  ...(id === undefined ? {} : { id }),
  type: "response",
  command,
  success: false,
  error,
});

test("each wrong line gets one error, with id and command, that names what is wrong", async () => {
  const table: [line: string | Uint8Array, answer: unknown][] = [
    ["{not json", failure(undefined, "parse", expect.stringContaining("Failed to parse command"))],
    ["[1,2]", failure(undefined, "parse", "A command must be a JSON object, not an array")],
    ["7", failure(undefined, "parse", "A command must be a JSON object, not a number")],
    ['"get_state"', failure(undefined, "parse", "A command must be a JSON object, not a string")],
    ["null", failure(undefined, "parse", "A command must be a JSON object, not null")],
    [new Uint8Array([0x22, 0xff, 0xfe, 0x22]), failure(undefined, "parse", expect.stringContaining("UTF-8"))],
    ['{"id":"1"}', failure("1", "parse", "'type' is missing")],
    ['{"id":"1","type":5}', failure("1", "parse", "'type' must be a text")],
    ['{"id":"1","type":"no_such_thing"}', failure("1", "no_such_thing", "Unknown command: no_such_thing")],
    ['{"id":"1","type":"get_stat"}', failure("1", "get_stat", "Unknown command: get_stat. Did you mean get_state?")],
    ['{"id":"1","type":"toString"}', failure("1", "toString", "Unknown command: toString")],
    ['{"id":{},"type":"get_state"}', failure(undefined, "get_state", "'id' must be a text")],
    ['{"id":"1","type":"prompt"}', failure("1", "prompt", "'message' is missing")],
    ['{"id":"1","type":"prompt","message":5}', failure("1", "prompt", "'message' must be a text")],
    ['{"id":"1","type":"prompt","message":" "}', failure("1", "prompt", "'message' is empty")],
    [
      '{"id":"1","type":"prompt","message":"x","images":[{"type":"image","data":"AA"}]}',
      failure("1", "prompt", "'images.0.mimeType' is missing"),
    ],
    [
      '{"id":"1","type":"prompt","message":"x","streamingBehavior":"now"}',
      failure("1", "prompt", `'streamingBehavior' must be one of "steer", "followUp", not "now"`),
    ],
    [
      '{"id":"1","type":"set_thinking_level","level":"enormous"}',
      failure("1", "set_thinking_level", expect.stringContaining("'level' must be one of")),
    ],
    [
      '{"id":"1","type":"set_auto_retry","enabled":"yes"}',
      failure("1", "set_auto_retry", "'enabled' must be true or false"),
    ],
    [
      '{"id":"1","type":"bash","command":"a\\u0000b"}',
      failure("1", "bash", "a command cannot contain a NUL character"),
    ],
    ['{"type":"extension_ui_response"}', failure(undefined, "extension_ui_response", "'id' is missing")],
  ];
  await using rpc = startRpc([], { env: key });
  for (const [line, answer] of table) {
    const from = rpc.records.length;
    rpc.write(line);
    expect(await rpc.wait("response", from)).toEqual(answer as RpcRecord);
  }
  expect(rpc.records).toHaveLength(table.length);
  expect(rpc.problems).toEqual([]);
});

test("a number as id is repeated, CRLF is taken, and blank lines are passed over", async () => {
  await using rpc = startRpc([], { env: key });
  rpc.write('\n  \n\r\n{"id":7,"type":"get_state"}\r\n\n');
  expect(await rpc.wait("response")).toMatchObject({ id: 7, success: true });
  expect(rpc.records).toHaveLength(1);
});

test("line separators of Unicode do not end a line, arrive as they are, and a session that holds them goes on", async () => {
  await using setup = await connect([hello]);
  const { rpc, server } = setup;
  rpc.write('{"id":"1","type":"prompt","message":"a\u2028b\u2029c\u0085d"}');
  await rpc.wait("agent_settled");
  expect(server.requests[0]?.body.messages.at(-1).content).toBe("a\u2028b\u2029c\u0085d");
  const { sessionFile } = await rpc.ask("get_state");
  await rpc.ask("new_session");
  await rpc.ask("switch_session", { sessionPath: sessionFile });
  const [said] = (await rpc.ask("get_fork_messages")).messages;
  expect(said?.text).toBe("a\u2028b\u2029c\u0085d");
});

test("a line that arrives byte by byte is one line", async () => {
  await using rpc = startRpc([], { env: key });
  const bytes = Buffer.from('{"id":"ä🌍","type":"get_state"}\n');
  for (const byte of bytes) {
    rpc.writeRaw(Uint8Array.of(byte));
    await Bun.sleep(0);
  }
  expect(await rpc.wait("response")).toMatchObject({ id: "ä🌍", success: true });
});

test("a line of 10 MB is a command like any other", async () => {
  await using rpc = startRpc([], { env: key });
  const padding = "x".repeat(10 * 1024 * 1024);
  expect(await rpc.ask("get_state", { padding })).toMatchObject({ isStreaming: false });
  const answer = await rpc.send({ type: "get_entries", since: padding });
  expect(answer).toMatchObject({ success: false, error: expect.stringMatching(/^Entry not found: x{500,1000}…$/) });
});

test("a line that is far too long gets one error", async () => {
  await using dir = tmp();
  const rpc = Bun.spawn([binaryPath(), "--mode", "rpc", "--no-session"], {
    env: cleanEnv(dir.path, key),
    stdin: "pipe",
    stderr: "inherit",
  });
  const megabyte = new Uint8Array(1024 * 1024).fill(0x78);
  for (let i = 0; i < 100; i++) {
    rpc.stdin.write(megabyte);
    await rpc.stdin.flush();
  }
  rpc.stdin.end();
  const error = `The line is too long: ${100 * megabyte.length} bytes, of which 67108864 are possible`;
  expect(JSON.parse(await rpc.stdout.text())).toEqual(failure(undefined, "parse", error));
  expect(await rpc.exited).toBe(0);
});

test.skipIf(process.platform !== "linux")("nothing of what was read stays in memory", async () => {
  await using rpc = startRpc(["--no-session"], { env: key });
  const padding = "x".repeat(1024 * 1024);
  for (let i = 0; i < 600; i++) await rpc.ask("get_state", { padding });
  const status = readFileSync(`/proc/${rpc.pid}/status`, "latin1");
  expect(Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1])).toBeLessThan(400 * 1024);
});

test("two thousand random and broken lines leave it alive, and its answers right", async () => {
  await using rpc = startRpc(["--no-session"], { env: { ...key, PI_BASE_URL: "http://127.0.0.1:1" } });
  let sent = 0;
  for (const line of randomLines(20261130, 2000)) {
    rpc.write(line);
    if (++sent % 100 === 0) expect(await rpc.ask("get_state")).toMatchObject({ sessionId: expect.any(String) });
  }
  expect(rpc.problems).toEqual([]);
});
