// The replay server through the real client path: what it is told to do to a connection really reaches a reader.
import { describe, expect, test } from "bun:test";
import { createHttpTransport } from "../../src/providers/http.ts";
import { createOpenAiChat } from "../../src/providers/openai-chat/index.ts";
import type { Chunk, ProviderRequest } from "../../src/providers/provider.ts";
import { AppError, type ErrorCode } from "../../src/util/error.ts";
import { testRequest, testSettings } from "../contract/provider-contract.ts";
import { chatTurn, textDelta, toolCallDeltas } from "./chat-stream.ts";
import { inRuns } from "./delta-runs.ts";
import { assistant, toolCall, user } from "./messages.ts";
import { byteByByte, gate, type Reply, refusal, type Script, splitAt, startReplayServer } from "./replay-server.ts";

interface Asked {
  readonly batches: readonly (readonly Chunk[])[];
  /** Thrown instead of, or the last of, the chunks. */
  readonly error: AppError | undefined;
}

async function ask(
  url: string,
  limits: { firstByteMs?: number; idleMs?: number } = {},
  request: ProviderRequest = testRequest,
): Promise<Asked> {
  const { firstByteMs = 0, idleMs = 0 } = limits;
  const provider = createOpenAiChat({ ...testSettings, baseUrl: url, idleMs }, createHttpTransport({ firstByteMs }));
  const batches: (readonly Chunk[])[] = [];
  try {
    for await (const batch of provider.stream(request, new AbortController().signal)) batches.push(batch);
  } catch (error) {
    if (error instanceof AppError) return { batches, error };
    throw error;
  }
  const last = batches.flat().at(-1);
  return { batches, error: last?.type === "error" ? last.error : undefined };
}

function textOf({ batches }: Asked): string {
  return batches.flatMap((batch) => batch.map((chunk) => (chunk.type === "text" ? chunk.delta : ""))).join("");
}

const halfAnswer = [textDelta("one "), textDelta("two"), ...toolCallDeltas({ name: "bash", arguments: "{" })];

describe("answers", () => {
  test("of a whole turn, one byte a write or all at once, are read the same", async () => {
    const events = chatTurn({
      text: "Hello 北🌍",
      calls: [{ name: "bash", arguments: { command: "ls" } }],
      usage: { prompt: 11, completion: 3 },
    });
    await using server = await startReplayServer([
      { body: events },
      { body: byteByByte(events) },
      { body: events.join(""), framing: "close" },
    ]);
    const answers = [await ask(server.url), await ask(server.url), await ask(server.url)];
    const chunks = answers.map(({ batches }) => inRuns(batches.flat()));
    expect(textOf(answers[0] as Asked)).toBe("Hello 北🌍");
    expect(chunks[1]).toEqual(chunks[0] as Chunk[]);
    expect(chunks[2]).toEqual(chunks[0] as Chunk[]);
    expect(server.problems).toEqual([]);
  });

  test("wait where a gate is, and what was written before it has arrived by then", async () => {
    const { opened, open } = gate();
    const [first = Buffer.of(), second = Buffer.of()] = splitAt(
      `${textDelta("a")}${chatTurn({ text: "b" }).join("")}`,
      textDelta("a").length,
    );
    await using server = await startReplayServer([{ body: [first, opened, second] }]);
    const provider = createOpenAiChat(
      { ...testSettings, baseUrl: server.url },
      createHttpTransport({ firstByteMs: 0 }),
    );
    const seen: string[] = [];
    for await (const batch of provider.stream(testRequest, new AbortController().signal)) {
      for (const chunk of batch) if (chunk.type === "text") seen.push(chunk.delta);
      if (seen.length === 1) open();
    }
    expect(seen).toEqual(["a", "b"]);
  });
});

const endings: readonly [name: string, reply: Reply, code: ErrorCode, text: string | undefined][] = [
  ["a body that ends properly in the middle of an answer", { body: halfAnswer }, "stream_truncated", "one two"],
  [
    "a connection that ends cleanly where that is the body's end",
    { body: halfAnswer, framing: "close" },
    "stream_truncated",
    "one two",
  ],
  // The end of a broken connection may overtake the bytes before it.
  ["a connection that ends before the body does", { body: halfAnswer, ending: "fin" }, "network", undefined],
  ["a connection that is reset", { body: halfAnswer, ending: "reset" }, "network", undefined],
  ["a connection that goes silent", { body: halfAnswer, ending: "silent" }, "timeout", "one two"],
  ["a request that is never answered", "silent", "timeout", ""],
  ["a connection that is closed instead of an answer", "refuse", "network", ""],
  ["an overloaded server", refusal(529, { error: { type: "overloaded_error" } }), "overloaded", ""],
];

describe("failures that may be retried", () => {
  test.each(endings)("%s", async (_name, reply, code, text) => {
    await using server = await startReplayServer([reply]);
    const asked = await ask(server.url, reply === "silent" ? { firstByteMs: 30 } : { idleMs: 200 });
    expect(asked.error).toMatchObject({ code, retryable: true });
    if (text !== undefined) expect(textOf(asked)).toBe(text);
  });
});

describe("the record", () => {
  test("holds each request and tells when its client went away", async () => {
    await using server = await startReplayServer([{ body: [textDelta("a")], ending: "silent" }]);
    const controller = new AbortController();
    const provider = createOpenAiChat(
      { ...testSettings, baseUrl: server.url },
      createHttpTransport({ firstByteMs: 0 }),
    );
    const reading = Array.fromAsync(provider.stream(testRequest, controller.signal));
    const request = await server.request(0);
    controller.abort();
    await reading.catch(() => {});
    await request.closed;
    expect(request).toMatchObject({
      method: "POST",
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer test-key" },
      body: { model: "test-model", stream: true },
    });
  });

  test("names what is wrong with a request", async () => {
    const script: Script = () => ({ turn: { text: "ok" } });
    await using server = await startReplayServer(script);
    const messages = [user("hi"), assistant([toolCall("a"), toolCall("b")]), user(" ")];
    await ask(server.url, {}, { ...testRequest, messages });
    expect(server.problems).toEqual([
      "request 0: messages[2] (user) comes before the results of a, b",
      "request 0: messages[2] (user) has a blank text",
    ]);
  });

  test("names a request that the script did not expect", async () => {
    await using server = await startReplayServer([]);
    await ask(server.url);
    expect(server.problems).toEqual(["request 0: the script has no answer left"]);
  });
});

test("by hand it prints its address and its requests", async () => {
  const script = `${import.meta.dir}/../fixtures/openai-chat/two-turns.json`;
  await using child = Bun.spawn([process.execPath, `${import.meta.dir}/replay-server.ts`, script], { stdout: "pipe" });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { url } = JSON.parse((await lines.read()).value ?? "");
  expect(textOf(await ask(url))).toBe("Let me look.");
  expect(JSON.parse((await lines.read()).value ?? "")).toMatchObject({ path: "/v1/chat/completions", problems: [] });
});
