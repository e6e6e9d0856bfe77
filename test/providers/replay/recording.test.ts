// Traffic through a recorder and back out of its file: what is kept, what is hidden, and what a replay makes of the rest.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createHttpTransport, type HttpRequest } from "../../../src/providers/http.ts";
import { createReplayTransport } from "../../../src/providers/replay/index.ts";
import { createRecorder } from "../../../src/providers/replay/record.ts";
import { parseRecording } from "../../../src/providers/replay/recording.ts";
import { AppError } from "../../../src/util/error.ts";
import { byteByByte, type Reply, refusal, startReplayServer } from "../../helpers/replay-server.ts";
import { type TmpDir, tmp } from "../../helpers/tmp.ts";

const key = "test-key-0123456789";
const never = new AbortController().signal;
const asIs = (body: string) => body;

function toRequest(url: string, fields: Record<string, unknown> = {}): HttpRequest {
  const body = { model: "m", stream: true, messages: [{ role: "user", content: "hi" }], ...fields };
  const headers = { authorization: `Bearer ${key}`, "x-team": "team-secret-1" };
  return { url: `${url}/chat/completions`, headers, body: JSON.stringify(body), secrets: [key] };
}

/** What came of a request: the body, or the error. */
async function outcome(sent: Promise<Response>): Promise<unknown> {
  return await sent
    .then(async (response) => Buffer.from(await response.bytes()).toString("latin1"))
    .catch((error) => (error instanceof AppError ? `${error.code} ${error.retryable} ${error.message}` : error));
}

/** Asks once for each reply; the outcomes, and the recording. */
async function record(dir: TmpDir, replies: readonly Reply[], fields: Record<string, unknown> = {}) {
  await using server = await startReplayServer(replies);
  const path = dir.file("run.jsonl");
  const firstByteMs = replies.includes("silent") ? 50 : 0;
  const transport = createHttpTransport({ firstByteMs, recorder: createRecorder(path, asIs) });
  const outcomes = [];
  for (const _ of replies) outcomes.push(await outcome(transport(toRequest(server.url, fields), never)));
  return { outcomes, file: readFileSync(path, "utf8") };
}

function replayOf(file: string) {
  const transport = createReplayTransport(parseRecording(file, "run.jsonl"), { paced: false, steady: asIs });
  return (fields: Record<string, unknown> = {}) =>
    outcome(transport({ ...toRequest("replay:", fields), secrets: [""] }, never));
}

function lines(file: string) {
  return file
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

test.each<[string, Reply]>([
  ["an answer in pieces", { body: byteByByte("data: 北🌍\r\n\r\ndata: [DONE]\n\n") }],
  ["an answer without a last line end", { body: ["data: a\n\nda", "ta: b"] }],
  ["an answer of bytes that are no text", { body: [Uint8Array.of(0x64, 0xff, 0xfe, 0x0a, 0x80)] }],
  ["an empty answer", {}],
  ["a refusal", refusal(400, { error: { message: "no" } })],
  ["a refusal that asks to wait", refusal(429, { error: { message: "try again in 2s" } })],
  ["a server that never answers", "silent"],
  ["a connection that is refused", "refuse"],
])("%s comes back the same", async (_name, reply) => {
  await using dir = tmp();
  const { outcomes, file } = await record(dir, [reply]);
  expect([await replayOf(file)()]).toEqual(outcomes);
});

test("answers come in the order they were recorded, and one more is told", async () => {
  await using dir = tmp();
  const { file } = await record(dir, [{ body: "one\n" }, { body: "two\n" }]);
  const ask = replayOf(file);
  expect([await ask(), await ask(), await ask()]).toEqual([
    "one\n",
    "two\n",
    "replay_mismatch false The recording ends after 2 requests",
  ]);
});

test("a request that differs is told with the difference, and so is every one after it", async () => {
  await using dir = tmp();
  const { file } = await record(dir, [{ body: "one\n" }]);
  expect(await replayOf(file)({ model: "other" })).toBe(
    'replay_mismatch false Request 1 differs from the recording at model: recorded "m", now "other"',
  );
});

test("a chunk holds whole lines; headers hold nothing of who asked", async () => {
  await using dir = tmp();
  const headers = { "request-id": "r1", "set-cookie": "a=b", "x-organization": "org" };
  const { file } = await record(dir, [{ headers, body: ["da", "ta: a\n\nda", "ta: b\n\n", "rest"] }]);
  const [request, response, ...rest] = lines(file);
  expect(Object.keys(request)).toEqual(["type", "digest", "url", "body"]);
  expect(response).toEqual({
    type: "response",
    status: 200,
    headers: { "content-type": "text/event-stream", "request-id": "r1" },
  });
  const texts = rest.slice(0, -1).map(({ text }) => text);
  expect(texts.join("")).toBe("data: a\n\ndata: b\n\nrest");
  expect(texts.slice(0, -1).filter((text) => !text.endsWith("\n"))).toEqual([]);
  expect(rest.at(-1)).toEqual({ type: "end", ms: expect.any(Number) });
});

describe("secrets", () => {
  test.each<[string, Reply]>([
    ["in one piece", { body: `data: ${key} team-secret-1\n\n` }],
    ["byte by byte", { body: byteByByte(`data: ${key} team-secret-1\n\n`) }],
    ["among bytes that are no text", { body: [Buffer.from(`data: \xff ${key} team-secret-1\n`, "latin1")] }],
    ["in a refusal", refusal(401, { error: { message: `Bearer ${key}, x-team: team-secret-1` } })],
  ])("that the server says %s are not in the file", async (_name, reply) => {
    await using dir = tmp();
    const { file } = await record(dir, [reply]);
    const decoded = lines(file).map(
      ({ base64, ...line }) => JSON.stringify(line) + Buffer.from(base64 ?? "", "base64"),
    );
    expect(decoded.join()).toContain("[key hidden]");
    expect(decoded.join()).not.toMatch(/0123456789|team-secret/);
  });

  test("in the request are hidden, what only looks like one in an answer stays, and the replay still fits", async () => {
    await using dir = tmp();
    const fields = { note: `${key} and sk-somebodyelseskey123`, tool: { "api-key": 5, authorization: { a: true } } };
    const { file } = await record(dir, [{ body: "data: key-generation-function\n\n" }], fields);
    expect(lines(file)[0].body).toMatchObject({ note: "[key hidden] and [key hidden]", tool: fields.tool });
    const again = { ...fields, note: "[key hidden] and sk-somebodyelseskey123" };
    expect(await replayOf(file)(again)).toBe("data: key-generation-function\n\n");
  });
});

test("a body that was given up stops there again", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([{ body: ["data: a\n\n", "data: hal"], ending: "silent" }]);
  const path = dir.file("run.jsonl");
  const transport = createHttpTransport({ firstByteMs: 0, recorder: createRecorder(path, asIs) });
  const reader = (await transport(toRequest(server.url), never)).body?.getReader();
  let seen = "";
  while (!seen.includes("hal")) seen += new TextDecoder().decode((await reader?.read())?.value);
  await reader?.cancel();
  const file = readFileSync(path, "utf8");
  expect(
    lines(file)
      .slice(2)
      .map(({ type, text, error }) => [type, text ?? error]),
  ).toEqual([
    ["chunk", "data: a\n\n"],
    ["chunk", "data: hal"],
    ["end", "cancelled"],
  ]);
  expect(await replayOf(file)()).toMatchObject({ message: "the recorded connection broke here" });
});

test("a request that was given up before its answer is told as such", async () => {
  await using dir = tmp();
  await using server = await startReplayServer(["silent"]);
  const path = dir.file("run.jsonl");
  const controller = new AbortController();
  const transport = createHttpTransport({ firstByteMs: 0, recorder: createRecorder(path, asIs) });
  const sent = outcome(transport(toRequest(server.url), controller.signal));
  await server.request(0);
  controller.abort();
  expect(await sent).toBe("aborted false Request aborted");
  expect(await replayOf(readFileSync(path, "utf8"))()).toBe(
    "replay_mismatch false The recording was interrupted before the answer to request 1",
  );
});
