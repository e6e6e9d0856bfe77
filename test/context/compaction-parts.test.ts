// The smaller parts of a compaction: limits, files, the conversation as text, thinking that outlived it, and the context it leaves.
import { describe, expect, test } from "bun:test";
import { withoutKeptThinking } from "../../src/context/kept-thinking.ts";
import { answerTokens, compactAbove, contextLimits } from "../../src/context/limits.ts";
import { touchedFiles } from "../../src/context/touched-files.ts";
import { partsThatFit, shorten, toTranscript } from "../../src/context/transcript.ts";
import type { CompactionSummaryMessage, Message } from "../../src/protocol/message.ts";
import { buildContext } from "../../src/protocol/tree.ts";
import { createMemorySession } from "../../src/session/store.ts";
import { assistant, outline, system, toolCall, toolResult, user } from "../helpers/messages.ts";

describe("the limits of a window", () => {
  test.each([
    [8000, 8192],
    [32_000, 8192],
    [128_000, 8192],
    [200_000, 64_000],
    [1_000_000, 8192],
  ])("of %d with answers of %d leave room for the answer, the overhead, what is kept and a summary", (window, max) => {
    const limits = contextLimits(window, max);
    expect(limits.comfortable).toBeGreaterThan(window / 2);
    expect(limits.comfortable + Math.min(max, window / 4)).toBeLessThan(window);
    expect(limits.keep + limits.summary).toBeLessThan(limits.comfortable);
    expect(limits.summaryInput + limits.summary).toBeLessThan(window);
    expect(limits.most).toBeLessThan(window);
  });

  test("are the hard one where the overhead leaves no comfort", () => {
    const limits = contextLimits(8000, 8192);
    expect(compactAbove(limits, 3000)).toBe(limits.comfortable);
    expect(compactAbove(limits, 7000)).toBe(limits.most);
  });

  test("bound the answer by what is left, except where the window cannot be right", () => {
    const limits = contextLimits(8000, 8192);
    expect(answerTokens(1000, limits, 100)).toBe(1000);
    expect(answerTokens(8192, limits, 3000)).toBe(limits.most - 3000);
    expect(answerTokens(8192, limits, 9000)).toBe(8192);
  });
});

test("files are told apart by what the calls that succeeded did to them", () => {
  const messages = [
    assistant([toolCall("1", "read", { path: "a" }), toolCall("2", "read", { path: "b" })]),
    toolResult("1", "x"),
    toolResult("2", "x", { isError: true }),
    assistant([toolCall("3", "edit", { path: "c" }), toolCall("4", "write", { path: "a" })]),
    toolResult("3", "x"),
    toolResult("4", "x"),
    assistant([toolCall("5", "write", { path: "d" }), toolCall("6", "bash", { command: "e" })]),
    toolResult("6", "x"),
  ];
  expect(touchedFiles(messages)).toEqual({ readFiles: [], modifiedFiles: ["a", "c"] });
  const earlier = { readFiles: ["c", "z"], modifiedFiles: ["y"] };
  expect(touchedFiles(messages, earlier)).toEqual({ readFiles: ["z"], modifiedFiles: ["a", "c", "y"] });
  expect(touchedFiles([], { readFiles: "nonsense" })).toEqual({ readFiles: [], modifiedFiles: [] });
});

describe("the conversation as text", () => {
  test("names who spoke, shortens results, and leaves thoughts out", () => {
    const parts = toTranscript(
      [
        system("p"),
        user("please"),
        assistant([{ type: "thinking", thinking: "secret" }, "ok", toolCall("1", "bash", { command: "ls" })]),
        toolResult("1", `begin ${"x".repeat(50_000)} end`, { isError: true }),
      ],
      100_000,
    );
    expect(parts.slice(0, 2)).toEqual(["[User]\nplease", '[Assistant]\nok\n(calls bash {"command":"ls"})']);
    expect(parts[2]).toMatch(/^\[Result of bash \(failed\)\]\nbegin x+\n… \(\d+ characters left out\) …\nx+ end$/);
    expect(parts[2]?.length).toBeLessThan(2200);
  });

  test("has no part longer than was asked for, and is taken in pieces of at least one", () => {
    const parts = toTranscript([user("x".repeat(9000)), user("y".repeat(9000))], 1000);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(1100);
    expect(partsThatFit(parts, 1)).toBe(1);
    expect(partsThatFit(parts, 10_000)).toBe(2);
    expect(shorten("short", 10)).toBe("short");
  });
});

test("thinking from before a compaction goes, where the provider ties it to what was there", () => {
  const summary: CompactionSummaryMessage = { role: "compactionSummary", summary: "s", tokensBefore: 1, timestamp: 10 };
  const thinking = { type: "thinking" as const, thinking: "hm", thinkingSignature: "S" };
  const answer = (timestamp: number, api: string) => assistant([thinking, "text"], { timestamp, api });
  const messages: Message[] = [summary, answer(9, "anthropic-messages"), answer(9, "openai-completions")];
  messages.push(user("a"), answer(11, "anthropic-messages"));
  expect(outline(withoutKeptThinking(messages))).toEqual([
    "compactionSummary",
    "assistant text",
    "assistant (hm) text",
    "user a",
    "assistant (hm) text",
  ]);
  const before = [answer(9, "anthropic-messages")];
  expect(withoutKeptThinking(before)).toBe(before);
});

test("a second compaction that keeps entries from before the first shows one summary, and no result without its call", () => {
  const session = createMemorySession("/tmp");
  const add = (message: Message) => session.append({ type: "message", message }).id;
  add(user("a"));
  const firstKept = add(assistant([toolCall("1")]));
  add(toolResult("1", "x"));
  session.append({
    type: "compaction",
    summary: "first",
    firstKeptEntryId: firstKept,
    tokensBefore: 1,
    systemMessage: system("p"),
  });
  add(user("b"));
  session.append({
    type: "compaction",
    summary: "second",
    firstKeptEntryId: firstKept,
    tokensBefore: 1,
    systemMessage: system("p"),
  });
  const { messages } = buildContext(session.entries(), session.leafId());
  expect(outline(messages)).toEqual(["system p", "compactionSummary", "assistant +1", "result 1 x", "user b"]);
  expect(messages[1]).toMatchObject({ summary: "second" });
});
