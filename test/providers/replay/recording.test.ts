// Traffic through a recorder and back out of its file: what is kept, what is hidden, and what a replay makes of the rest.
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import type { Answer } from "../../../src/providers/body.ts";
import { createHttpTransport, type HttpRequest } from "../../../src/providers/http.ts";
import { createReplayProvider, createReplayTransport } from "../../../src/providers/replay/index.ts";
import { createRecorder } from "../../../src/providers/replay/record.ts";
import { parseRecording } from "../../../src/providers/replay/recording.ts";
import { readSse } from "../../../src/providers/sse.ts";
import { AppError } from "../../../src/util/error.ts";
import { bytesOf } from "../../helpers/answer.ts";
import { byteByByte, gate, type Reply, refusal, startReplayServer } from "../../helpers/replay-server.ts";
import { type TmpDir, tmp } from "../../helpers/tmp.ts";

const key = "test-key-0123456789";
const never = new AbortController().signal;
const asIs = (body: string) => body;

function toRequest(url: string, fields: Record<string, unknown> = {}): HttpRequest {
  const body = { model: "m", stream: true, messages: [{ role: "user", content: "hi" }], ...fields };
  const headers = { authorization: `Bearer ${key}`, "x-team-token": "team-secret-1" };
  return { url: `${url}/chat/completions`, headers, body: JSON.stringify(body), secrets: [key] };
}

/** What came of a request: the body, or the error. */
async function outcome(sent: Promise<Answer>): Promise<unknown> {
  return await sent
    .then(async (answer) => (await bytesOf(answer)).toString("latin1"))
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

/** Without a key, unless `secrets` has one. */
function replayOf(file: string, secrets: readonly string[] = []) {
  const transport = createReplayTransport(parseRecording(file, "run.jsonl"), { paced: false, steady: asIs });
  return (fields: Record<string, unknown> = {}) =>
    outcome(transport({ ...toRequest("replay:", fields), headers: {}, secrets }, never));
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
    ["in a refusal", refusal(401, { error: { message: `Bearer ${key}, x-team-token: team-secret-1` } })],
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

  test("in a request may be there, hidden, others or missing when it is replayed, and nothing else may differ", async () => {
    await using dir = tmp();
    const { file } = await record(dir, [{ body: "data: ok\n\n" }], { note: `password=${key};` });
    const outcomes = [
      await replayOf(file)({ note: `password=${key};` }),
      await replayOf(file, [key])({ note: `password=${key};` }),
      await replayOf(file)({ note: "password=another;" }),
      await replayOf(file)({ note: "password: another;" }),
    ];
    expect(outcomes.slice(0, 3)).toEqual(["data: ok\n\n", "data: ok\n\n", "data: ok\n\n"]);
    expect(outcomes[3]).toStartWith("replay_mismatch false Request 1 differs from the recording at note");
  });

  test("are no headers that name none: what they say stays in requests and answers", async () => {
    await using dir = tmp();
    await using server = await startReplayServer([{ body: "data: use pi-ts\n\n" }]);
    const path = dir.file("run.jsonl");
    const transport = createHttpTransport({ firstByteMs: 0, recorder: createRecorder(path, asIs) });
    const request = { ...toRequest(server.url, { note: "pi-ts" }), headers: { "x-title": "pi-ts" } };
    await outcome(transport(request, never));
    const file = readFileSync(path, "utf8");
    expect(file).not.toContain("[key hidden]");
    expect(await replayOf(file)({ note: "pi-ts" })).toBe("data: use pi-ts\n\n");
  });

  const chat = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  const message = (index: number, text: string) => `data: ${JSON.stringify({ index, delta: { text } })}\n\n`;

  test.each<[string, body: string[], left: string]>([
    ["two events", [chat(`key ${key.slice(0, 9)}`), chat(`${key.slice(9)} end`)], "key [key hidden] end"],
    ["events of one read", [chat(key.slice(0, 9)) + chat(key.slice(9))], "[key hidden]"],
    ["many events", [...key].map(chat), "[key hidden]"],
    [
      "events with others between",
      [message(1, key.slice(0, 9)), message(2, "x"), message(1, key.slice(9))],
      "[key hidden]x",
    ],
    ["what could begin one and does not", [chat("tes"), chat("t-key"), chat("board")], "test-keyboard"],
    ["what could begin one at the end", [chat("tes"), chat("test-")], "testest-"],
  ])("that the model spells out over %s are hidden, and the rest of the answer is whole", async (_name, body, left) => {
    await using dir = tmp();
    const { file } = await record(dir, [{ body: [...body, "data: [DONE]\n\n"] }]);
    const answer = String(await replayOf(file)());
    expect([...answer.matchAll(/"(?:content|text)":"([^"]*)"/g)].map(([, text]) => text).join("")).toBe(left);
    expect(answer).toEndWith("data: [DONE]\n\n");
    expect(file).not.toContain("0123456789");
  });
});

describe("a recording that cannot be written", () => {
  test("is one error that names it, and is not tried again", async () => {
    await using dir = tmp();
    await using server = await startReplayServer([{ body: "data: a\n\n" }, { body: "data: b\n\n" }]);
    const path = dir.file("run.jsonl");
    const transport = createHttpTransport({ firstByteMs: 0, recorder: createRecorder(path, asIs) });
    rmSync(path);
    mkdirSync(path);
    const outcomes = [];
    for (let i = 0; i < 2; i++) outcomes.push(await outcome(transport(toRequest(server.url), never)));
    expect(outcomes[0]).toStartWith(`output false Cannot go on recording to ${path}: EISDIR`);
    expect(outcomes[1]).toBe(outcomes[0]);
    expect(server.requests).toHaveLength(0);
  });

  test("in the middle of an answer ends the answer", async () => {
    await using dir = tmp();
    const rest = gate();
    await using server = await startReplayServer([{ body: ["data: a\n\n", rest.opened, "data: b\n\n"] }]);
    const path = dir.file("run.jsonl");
    const transport = createHttpTransport({ firstByteMs: 0, recorder: createRecorder(path, asIs) });
    const response = await transport(toRequest(server.url), never);
    const reader = response.body?.getReader();
    await reader?.read();
    rmSync(path);
    mkdirSync(path);
    rest.open();
    const error = await reader?.read().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "output", retryable: false });
  });
});

test("an answer that its reader leaves at its end has one end", async () => {
  await using dir = tmp();
  const path = dir.file("run.jsonl");
  const last = gate();
  await using server = await startReplayServer([{ body: ["data: a\n\n", last.opened, "data: [DONE]\n\n"] }]);
  const transport = createHttpTransport({ firstByteMs: 0, recorder: createRecorder(path, asIs) });
  const reader = (await transport(toRequest(server.url), never)).body?.getReader();
  await reader?.read();
  const next = reader?.read();
  await reader?.cancel();
  last.open();
  await next;
  expect(lines(readFileSync(path, "utf8")).filter(({ type }) => type === "end")).toHaveLength(1);
});

/** A recorded answer whose body gives `pieces` and its end as soon as they are asked for. */
function recordedAnswer(path: string, pieces: readonly string[], onCancel?: () => void): Answer {
  const rest = pieces.map((text) => Buffer.from(text));
  const body = new ReadableStream({
    pull(controller) {
      const piece = rest.shift();
      if (piece) controller.enqueue(piece);
      else if (!onCancel) controller.close();
    },
    cancel: () => onCancel?.(),
  });
  const exchange = createRecorder(path, asIs)(toRequest("http://127.0.0.1:1"));
  return exchange.answered(new Response(body));
}

test("an answer whose reader leaves at its last word has the end that came right behind it", async () => {
  await using dir = tmp();
  const path = dir.file("run.jsonl");
  const answer = recordedAnswer(path, ["data: a\n\n", "data: [DONE]\n\n"]);
  for await (const [event] of readSse(answer.body!, never, { idleMs: 0 })) if (event?.data === "[DONE]") break;
  const written = lines(readFileSync(path, "utf8")).map(({ type, error }) => [type, error]);
  expect(written.slice(2)).toEqual([
    ["chunk", undefined],
    ["chunk", undefined],
    ["end", undefined],
  ]);
});

test("an answer whose end cannot be recorded is given up all the same, without a failure of its own", async () => {
  await using dir = tmp();
  const path = dir.file("run.jsonl");
  let cancelled = false;
  const answer = recordedAnswer(path, ["data: a\n\n", "data: half"], () => {
    cancelled = true;
  });
  for await (const _ of readSse(answer.body!, never, { idleMs: 0 })) {
    rmSync(path);
    mkdirSync(path);
    break;
  }
  expect(cancelled).toBe(true);
});

test("a replay says that it is one, since nothing has to be waited for", () => {
  expect(createReplayProvider('{"type":"request"}', "run.jsonl", false).isReplay).toBe(true);
});

describe("a damaged recording", () => {
  const request = '{"type":"request"}';
  const response = '{"type":"response","status":200,"headers":{}}';
  const chunk = '{"type":"chunk","ms":1,"text":"data: a"}';
  const end = '{"type":"end","ms":2}';
  const failure = '{"type":"failure","message":"boo"}';

  test.each<[string, string[], string]>([
    ["an answer without its response", [request, chunk], "run.jsonl:2: 'chunk' before the response"],
    ["an end without a response", [request, end], "run.jsonl:2: 'end' before the response"],
    ["two responses", [request, response, response], "run.jsonl:3: 'response' behind the beginning of an answer"],
    [
      "a failure behind a response",
      [request, response, failure],
      "run.jsonl:3: 'failure' behind the beginning of an answer",
    ],
    ["a chunk behind the end", [request, response, end, chunk], "run.jsonl:4: 'chunk' behind the end of an answer"],
    ["two ends", [request, response, end, end], "run.jsonl:4: 'end' behind the end of an answer"],
    ["an answer behind a failure", [request, failure, response], "run.jsonl:3: 'response' behind the end of an answer"],
    [
      "a request that was changed",
      ['{"type":"request","digest":"00","body":{"model":"m"}}'],
      "run.jsonl:1: the request is not the one that was recorded: its digest differs",
    ],
    [
      "an unknown failure",
      [request, '{"type":"failure","message":"boo","code":"nonsense"}'],
      "run.jsonl:2: not a line of a recording",
    ],
    [
      "headers that are none",
      [request, '{"type":"response","status":200,"headers":{"a b":"c"}}'],
      "run.jsonl:2: not a line of a recording",
    ],
    [
      "bytes that are no base64",
      [request, response, '{"type":"chunk","ms":1,"base64":"!!!"}'],
      "run.jsonl:3: not a line of a recording",
    ],
    [
      "a line named like something every object has",
      ['{"type":"constructor"}'],
      "run.jsonl:1: not a line of a recording",
    ],
  ])("with %s names the line", (_name, damaged, message) => {
    expect(() => parseRecording(damaged.join("\n"), "run.jsonl")).toThrow(
      expect.objectContaining({ code: "config", message }),
    );
  });

  test.each([204, 304])("with a body behind a status that has none (%d) is answered without it", async (status) => {
    const file = [request, `{"type":"response","status":${status},"headers":{}}`, chunk, end].join("\n");
    expect(String(await replayOf(file)())).not.toContain("internal");
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
  expect(await replayOf(file)()).toBe("network true The recorded connection broke here");
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
