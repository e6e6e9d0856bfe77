// The adapter as a whole: what it sends, where it stops reading, and what comes back around through fold and request.
import { expect, test } from "bun:test";
import { foldStream } from "../../../src/agent/fold-stream.ts";
import { createAnthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import { toMessagesBody } from "../../../src/providers/anthropic-messages/request.ts";
import type { HttpRequest, Transport } from "../../../src/providers/http.ts";
import type { Chunk, ProviderSettings } from "../../../src/providers/provider.ts";
import { defaultQuirks } from "../../../src/providers/quirks.ts";
import { addressee, assistant, testModel, testRequest, user } from "./helpers.ts";

const settings: ProviderSettings = {
  name: "anthropic",
  baseUrl: "http://127.0.0.1/v1",
  apiKey: "test-key",
  idleMs: 0,
  headers: { "x-team": "blue" },
  quirks: defaultQuirks,
};

const fixture = (name: string) =>
  Bun.file(new URL(`../../fixtures/anthropic-messages/${name}.sse`, import.meta.url)).bytes();

function answering(body: Uint8Array<ArrayBuffer> | ReadableStream | null, requests: HttpRequest[] = []): Transport {
  return async (request) => {
    requests.push(request);
    return new Response(body);
  };
}

async function collect(stream: AsyncIterable<readonly Chunk[]>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const batch of stream) chunks.push(...batch);
  return chunks;
}

/** A body that sends `text` and stays open; `cancelled` resolves when the reader gives it up. */
function openBody(text: string) {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    cancel: () => resolve(),
  });
  return { body, cancelled };
}

const signal = new AbortController().signal;

test("a request goes to /messages with key, version and the configured headers", async () => {
  const requests: HttpRequest[] = [];
  const provider = createAnthropicMessages(settings, answering(await fixture("text"), requests));
  await collect(provider.stream(testRequest(), signal));
  expect({ name: provider.name, api: provider.api }).toEqual({ name: "anthropic", api: "anthropic-messages" });
  expect(requests).toEqual([
    {
      url: "http://127.0.0.1/v1/messages",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        "anthropic-version": "2023-06-01",
        "x-team": "blue",
        "x-api-key": "test-key",
      },
      body: JSON.stringify(toMessagesBody(testRequest(), addressee)),
      secrets: ["test-key"],
    },
  ]);
});

test("a server that needs no key gets none", async () => {
  const requests: HttpRequest[] = [];
  const provider = createAnthropicMessages({ ...settings, apiKey: "" }, answering(await fixture("text"), requests));
  await collect(provider.stream(testRequest(), signal));
  expect(requests[0]?.headers).not.toHaveProperty("x-api-key");
});

test("an answer ends with message_stop, although the server keeps the connection open", async () => {
  const { body, cancelled } = openBody(new TextDecoder().decode(await fixture("text")));
  const chunks = await collect(createAnthropicMessages(settings, answering(body)).stream(testRequest(), signal));
  expect(chunks.at(-1)).toEqual({ type: "end", reason: "stop", raw: "end_turn" });
  await cancelled;
});

test("a response without a body fails before any chunk", async () => {
  const stream = createAnthropicMessages(settings, answering(null)).stream(testRequest(), signal);
  await expect(collect(stream)).rejects.toMatchObject({ code: "stream_empty", retryable: true });
});

test.each([
  [
    "thinking",
    [
      { type: "thinking", thinking: "Let me see.", signature: "U0lHMQ==" },
      { type: "redacted_thinking", data: "UkVEQUNURUQ=" },
      { type: "text", text: "Here." },
      { type: "tool_use", id: "toolu_01", name: "ls", input: {} },
    ],
  ],
  [
    "thinking-text-omitted",
    [
      { type: "thinking", thinking: "", signature: "U0lHMQ==" },
      { type: "text", text: "Here." },
    ],
  ],
  [
    "thinking-blocks-in-a-row",
    [
      { type: "thinking", thinking: "First.", signature: "U0lHMQ==" },
      { type: "thinking", thinking: "Second.", signature: "U0lHMg==" },
      { type: "text", text: "Here." },
      { type: "text", text: "And here." },
    ],
  ],
])("the blocks of '%s' go back as they came", async (name, expected) => {
  const stream = createAnthropicMessages(settings, answering(await fixture(name))).stream(testRequest(), signal);
  const message = assistant([]);
  await foldStream(stream, message, testModel().cost, () => {});
  const body = toMessagesBody(testRequest({ messages: [user("go"), message, user("on")] }), addressee);
  expect((body.messages as unknown[])[1]).toEqual({ role: "assistant", content: expected });
});
