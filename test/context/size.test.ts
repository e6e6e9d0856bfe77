// How full a context is: the provider's last count with an estimate of what came after it, and when a count is not to be relied on.
import { describe, expect, test } from "bun:test";
import { estimateOverhead, estimateText, estimateTokens } from "../../src/context/estimate.ts";
import { type Context, measureContext } from "../../src/context/size.ts";
import type { AssistantMessage, CompactionSummaryMessage, Message } from "../../src/protocol/message.ts";
import { toUsage } from "../../src/providers/usage.ts";
import { assistant, toolCall, toolResult, user } from "../helpers/messages.ts";
import { testModel } from "../helpers/scripted-provider.ts";

function counted(
  counts: { input: number; cacheRead?: number; cacheWrite?: number; output?: number },
  fields: Partial<AssistantMessage> = {},
): AssistantMessage {
  const usage = toUsage({ cacheRead: 0, cacheWrite: 0, output: 0, ...counts }, testModel.cost);
  return assistant(["ok"], { usage, timestamp: 20, ...fields });
}

function measure(messages: readonly Message[], options: Partial<Context> = {}) {
  return measureContext({ model: testModel, system: "be brief", tools: [], messages, ...options });
}

const overhead = estimateOverhead("be brief", []);
const summary: CompactionSummaryMessage = {
  role: "compactionSummary",
  summary: "what was",
  tokensBefore: 9,
  timestamp: 10,
};

describe("a provider's count", () => {
  test.each([
    ["as OpenAI gives it, where the cached tokens are part of the prompt", { input: 43, cacheRead: 38_153 }, 38_196],
    ["as Anthropic gives it, where they stand beside it", { input: 10, cacheRead: 90_000, cacheWrite: 400 }, 90_410],
  ])("%s is all of the prompt, cached or not", (_name, counts, tokens) => {
    expect(measure([user("hi"), counted(counts)])).toMatchObject({ tokens, counted: true });
  });

  test("is of the last call alone, not of all calls of a turn", () => {
    const calls = [1000, 2000, 3000].flatMap((input, i) => [
      counted({ input, output: 10 }, { content: [toolCall(`c${i}`)] }),
      toolResult(`c${i}`, ""),
    ]);
    const { tokens } = measure([user("hi"), ...calls]);
    expect(tokens).toBe(3010 + estimateTokens(calls.slice(-1)));
  });

  test("grows by an estimate of what was added since", () => {
    const result = toolResult("a", "x".repeat(4000));
    const answer = counted({ input: 500, output: 20 }, { content: [toolCall("a")] });
    expect(measure([user("hi"), answer, result])).toMatchObject({ tokens: 520 + estimateTokens([result]) });
    expect(estimateTokens([result])).toBe(1004);
  });

  const plain = [user("hi")];
  const whole = (messages: readonly Message[]) => overhead + estimateTokens(messages);
  test.each<[string, AssistantMessage]>([
    ["that is missing", counted({ input: 0 })],
    ["of an answer that failed", counted({ input: 700 }, { stopReason: "error" })],
    ["of an answer that was aborted", counted({ input: 700 }, { stopReason: "aborted" })],
    ["of another model", counted({ input: 700 }, { model: "other" })],
    ["of another provider", counted({ input: 700 }, { provider: "other" })],
    ["larger than the window", counted({ input: 100_001 })],
  ])("%s is replaced by an estimate of everything", (_name, answer) => {
    const messages = [...plain, answer];
    expect(measure(messages)).toEqual({
      tokens: whole(messages),
      counted: false,
      overhead,
      afterCompaction: undefined,
    });
  });

  test("that cannot be of the whole prompt is replaced as well", () => {
    const messages = [user("x".repeat(40_000)), counted({ input: 10 })];
    expect(measure(messages)).toMatchObject({ tokens: whole(messages), counted: false });
  });

  test("from before a compaction is stale, one from after it is not", () => {
    const kept = counted({ input: 90_000 }, { timestamp: 9 });
    const messages: Message[] = [summary, user("b"), kept, user("c")];
    expect(measure(messages)).toMatchObject({ tokens: whole(messages), counted: false, afterCompaction: undefined });
    const fresh = counted({ input: 600 }, { timestamp: 11 });
    expect(measure([...messages, fresh])).toMatchObject({ tokens: 600, counted: true, afterCompaction: 600 });
  });

  test("far beyond the messages tells what the provider adds to every prompt", () => {
    expect(measure([user("hi"), counted({ input: 7900 })]).overhead).toBeGreaterThan(7800);
  });
});

describe("an estimate", () => {
  test("counts about four characters a token, and more where characters are longer", () => {
    expect(estimateText("abcdefgh")).toBe(2);
    expect(estimateText("你好世界")).toBe(3);
    expect(estimateText("")).toBe(0);
  });

  test("counts a picture at a fixed cost, whatever its bytes", () => {
    const picture = (size: number) => user([{ type: "image", data: "A".repeat(size), mimeType: "image/png" }]);
    expect(estimateTokens([picture(10)])).toBe(estimateTokens([picture(1_000_000)]));
  });

  test("counts calls with their arguments, thoughts, and the tools of the prompt", () => {
    const call = assistant([toolCall("a", "write", { content: "x".repeat(4000) })]);
    expect(estimateTokens([call])).toBeGreaterThan(1000);
    const thought = assistant([{ type: "thinking", thinking: "y".repeat(400) }]);
    expect(estimateTokens([thought])).toBe(104);
    const tools = [{ name: "t", description: "z".repeat(4000), parameters: {} }];
    expect(estimateOverhead("", tools)).toBeGreaterThan(1000);
  });
});

test.each([
  ["from another model", counted({ input: 900_000 }, { model: "other" })],
  ["far too small", counted({ input: 1 })],
])("a conversation of 40,000 messages whose counts are all %s is measured soon", (_name, answer) => {
  const messages = Array.from({ length: 20_000 }, (_, i) => [user(`question ${i}`), { ...answer }]).flat();
  const begin = performance.now();
  expect(measure(messages).counted).toBe(false);
  expect(performance.now() - begin).toBeLessThan(2000);
});
