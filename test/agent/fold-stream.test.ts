// Chunks → one message: what is built, what observers hear on the way, and what is left when the stream fails.
import { describe, expect, test } from "bun:test";
import { foldStream } from "../../src/agent/fold-stream.ts";
import type { AgentEvent, AssistantMessageEvent } from "../../src/protocol/event.ts";
import type { AssistantMessage } from "../../src/protocol/message.ts";
import type { Chunk } from "../../src/providers/provider.ts";
import { AppError } from "../../src/util/error.ts";
import { assistant } from "../helpers/messages.ts";
import { testModel, turn } from "../helpers/scripted-provider.ts";

/** Folds batches; a thrown error ends them. */
async function fold(batches: readonly (readonly Chunk[])[], thrown?: unknown) {
  const message: AssistantMessage = assistant([], { stopReason: "pending" });
  const events: AgentEvent[] = [];
  async function* stream() {
    yield* batches;
    if (thrown !== undefined) throw thrown;
  }
  const result = await foldStream(stream(), message, testModel.cost, (event) => events.push(structuredClone(event)));
  const steps: AssistantMessageEvent[] = events.flatMap((event) =>
    event.type === "message_update" ? [event.assistantMessageEvent] : [],
  );
  return { message, events, steps, ...result };
}

const truncated = new AppError("stream_truncated", "The connection closed", { retryable: true });

describe("what observers hear", () => {
  test("each block starts, grows by deltas and ends with its whole content", async () => {
    const { steps, events } = await fold([
      [{ type: "thinking", delta: "hm" }],
      [{ type: "thinking", delta: "!" }],
      [
        { type: "text", delta: "a" },
        { type: "text", delta: "b" },
      ],
      [{ type: "toolcall_start", index: 0, id: "x", name: "bash" }],
      [{ type: "toolcall_delta", index: 0, delta: '{"command":' }],
      [{ type: "toolcall_delta", index: 0, delta: '"ls"}' }],
      [{ type: "end", reason: "toolUse", raw: "tool_calls" }],
    ]);
    const call = { type: "toolCall" as const, id: "x", name: "bash", arguments: { command: "ls" } };
    expect(steps).toEqual([
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "hm" },
      { type: "thinking_delta", contentIndex: 0, delta: "!" },
      { type: "thinking_end", contentIndex: 0, content: "hm!" },
      { type: "text_start", contentIndex: 1 },
      { type: "text_delta", contentIndex: 1, delta: "a" },
      { type: "text_delta", contentIndex: 1, delta: "b" },
      { type: "text_end", contentIndex: 1, content: "ab" },
      { type: "toolcall_start", contentIndex: 2, id: "x", toolName: "bash" },
      { type: "toolcall_delta", contentIndex: 2, delta: '{"command":' },
      { type: "toolcall_delta", contentIndex: 2, delta: '"ls"}' },
      { type: "toolcall_end", contentIndex: 2, toolCall: call },
    ]);
    expect(events[0]).toMatchObject({ type: "message_start", message: { content: [], stopReason: "pending" } });
    expect(events.filter(({ type }) => type === "message_start")).toHaveLength(1);
  });

  test("an answer that fails before its first chunk is still announced, once, with its failure", async () => {
    for (const failing of [await fold([[{ type: "error", error: truncated }]]), await fold([], truncated)]) {
      expect(failing.events).toMatchObject([
        { type: "message_start", message: { content: [], stopReason: "error", errorMessage: "The connection closed" } },
      ]);
    }
  });
});

describe("the message", () => {
  test("holds blocks, usage with its cost, the response's id and both stop reasons", async () => {
    const { message, failure, cutCalls } = await fold([
      [
        { type: "response", id: "r1" },
        { type: "thinking", delta: "hm", signature: "reasoning_content" },
        { type: "text", delta: "ok" },
        { type: "usage", counts: { input: 1_000_000, output: 1_000_000, cacheRead: 0, cacheWrite: 0 } },
        { type: "end", reason: "stop", raw: "end_turn" },
      ],
    ]);
    expect(failure).toBeUndefined();
    expect(cutCalls.size).toBe(0);
    expect(message).toMatchObject({
      responseId: "r1",
      stopReason: "stop",
      rawStopReason: "end_turn",
      content: [
        { type: "thinking", thinking: "hm", thinkingSignature: "reasoning_content" },
        { type: "text", text: "ok" },
      ],
      usage: { input: 1_000_000, output: 1_000_000, totalTokens: 2_000_000, cost: { input: 1, output: 2, total: 3 } },
    });
  });

  test("takes the fragments of calls that arrive in turns", async () => {
    const { message } = await fold([
      [
        { type: "toolcall_start", index: 0, id: "a", name: "read" },
        { type: "toolcall_start", index: 1, id: "b", name: "read" },
        { type: "toolcall_delta", index: 0, delta: '{"path":' },
        { type: "toolcall_delta", index: 1, delta: '{"path":"2"}' },
        { type: "toolcall_delta", index: 0, delta: '"1"}' },
        { type: "toolcall_extra", index: 1, extraContent: { google: { thought_signature: "S" } } },
        { type: "end", reason: "toolUse", raw: "stop" },
      ],
    ]);
    expect(message.content).toEqual([
      { type: "toolCall", id: "a", name: "read", arguments: { path: "1" } },
      {
        type: "toolCall",
        id: "b",
        name: "read",
        arguments: { path: "2" },
        extraContent: { google: { thought_signature: "S" } },
      },
    ]);
  });

  test("keeps redacted thinking and the ends of blocks", async () => {
    const { message } = await fold([
      [
        { type: "thinking", delta: "a", signature: "s1" },
        { type: "block_end" },
        { type: "thinking", delta: "b", signature: "s2" },
        { type: "redacted_thinking", data: "secret" },
        { type: "text", delta: "ok" },
        { type: "end", reason: "stop", raw: "stop" },
      ],
    ]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "a", thinkingSignature: "s1" },
      { type: "thinking", thinking: "b", thinkingSignature: "s2" },
      { type: "thinking", thinking: "", thinkingSignature: "secret", redacted: true },
      { type: "text", text: "ok" },
    ]);
  });
});

describe("arguments", () => {
  const rows: readonly [
    name: string,
    text: string,
    args: Record<string, unknown>,
    error: RegExp | undefined,
    cut: boolean,
  ][] = [
    ["an object", '{"a":1}', { a: 1 }, undefined, false],
    ["nothing is no arguments", "", {}, undefined, false],
    ["white space is no arguments", " \n", {}, undefined, false],
    ["an array is an error", "[1]", {}, /not a JSON object/, false],
    ["a string is an error", '"ls"', {}, /not a JSON object/, false],
    ["null is no arguments", "null", {}, undefined, false],
    ["broken JSON is an error", '{"a":}', {}, /not valid JSON/, false],
    ["an object that stops is cut", '{"path":"README.md","content":"# a', {}, /not valid JSON/, true],
    ["an object without its last brace is cut", '{"a":{"b":1}', {}, /not valid JSON/, true],
  ];
  test.each(rows)("%s", async (_name, text, args, error, cut) => {
    const { message, cutCalls } = await fold([turn({ calls: [{ id: "x", name: "bash", args: text }] })]);
    const call = message.content[0];
    if (call?.type !== "toolCall") throw new Error("no call");
    expect(call.arguments).toEqual(args);
    if (error) expect(call.argumentsError).toMatch(error);
    else expect(call.argumentsError).toBeUndefined();
    expect(cutCalls.has(call)).toBe(cut);
  });
});

describe("a stream that fails", () => {
  const begun: Chunk[] = [
    { type: "text", delta: "one" },
    { type: "toolcall_start", index: 0, id: "x", name: "bash" },
    { type: "toolcall_delta", index: 0, delta: '{"command":"rm' },
  ];

  test("leaves what had arrived, without the call that was not whole", async () => {
    const { message, failure } = await fold([begun, [{ type: "error", error: truncated }]]);
    expect(failure).toBe(truncated);
    expect(message).toMatchObject({
      content: [{ type: "text", text: "one" }],
      stopReason: "error",
      errorMessage: "The connection closed",
    });
  });

  test("is marked as stopped when the user stopped it", async () => {
    const { message, failure } = await fold([
      begun,
      [{ type: "error", error: new AppError("aborted", "Request aborted") }],
    ]);
    expect(failure?.code).toBe("aborted");
    expect(message).toMatchObject({ content: [{ type: "text", text: "one" }], stopReason: "aborted" });
  });

  test("without any end is a truncated one", async () => {
    const { failure } = await fold([begun]);
    expect(failure).toMatchObject({ code: "stream_truncated", retryable: true });
  });

  test("by a bug is told apart from the provider's failures", async () => {
    const bug = new TypeError("bug");
    const { failure } = await fold([begun], bug);
    expect(failure).toMatchObject({ code: "internal", retryable: false, cause: bug });
  });
});
