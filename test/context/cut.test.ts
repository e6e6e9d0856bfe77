// Where a conversation is cut: never between a call and its result, whatever the history looks like.
import { describe, expect, test } from "bun:test";
import { repairHistory } from "../../src/agent/repair-history.ts";
import { findCut, safeCuts } from "../../src/context/cut.ts";
import { estimateTokens } from "../../src/context/estimate.ts";
import type { CompactionSummaryMessage, Message } from "../../src/protocol/message.ts";
import { checkHistory } from "../helpers/history-invariants.ts";
import { assistant, outline, system, toolCall, toolResult, user } from "../helpers/messages.ts";
import { createRandom, pick, type Random } from "../helpers/random-text.ts";

const summary: CompactionSummaryMessage = { role: "compactionSummary", summary: "s", tokensBefore: 1, timestamp: 1 };
const long = (tokens: number) => "x".repeat(4 * tokens);

/** The kept part in a few words. */
function kept(messages: readonly Message[], keep: number): string[] | undefined {
  const cut = findCut(messages, keep);
  return cut && outline(messages.slice(cut.to)).map((line) => line.replace(/x{5,}/, "…"));
}

describe("a safe cut", () => {
  test.each<[string, Message[], number[]]>([
    ["stands between turns", [user("a"), assistant(["b"]), user("c")], [0, 1, 2, 3]],
    [
      "leaves a call with all of its results",
      [
        user("a"),
        assistant([toolCall("1"), toolCall("2")]),
        toolResult("1", ""),
        toolResult("2", ""),
        assistant(["b"]),
      ],
      [0, 1, 4, 5],
    ],
    ["is not the end while a call is open", [user("a"), assistant([toolCall("1")])], [0, 1]],
    [
      "is not the end while one call of two is open",
      [user("a"), assistant([toolCall("1"), toolCall("2")]), toolResult("1", "")],
      [0, 1],
    ],
    ["may follow a call that a crash left without a result", [assistant([toolCall("1")]), user("go on")], [0, 1, 2]],
    [
      "leaves what came between a call and its result with them",
      [assistant([toolCall("1")]), user("by the way"), toolResult("1", ""), user("b")],
      [0, 3, 4],
    ],
    ["never begins with a result that lost its call", [toolResult("0", ""), user("a")], [1, 2]],
  ])("%s", (_name, messages, cuts) => {
    expect(safeCuts(messages)).toEqual(cuts);
  });
});

describe("the part that is kept", () => {
  const round = (id: string, tokens: number) => [assistant([toolCall(id)]), toolResult(id, long(tokens))];

  test("is whole turns where they are long enough", () => {
    const turns = ["a", "b", "c"].flatMap((name) => [user(name), ...round(name, 300), assistant([`${name} done`])]);
    expect(kept([system("p"), ...turns], 700)).toEqual([
      ...["user b", "assistant +b", "result b …", "assistant b done"],
      ...["user c", "assistant +c", "result c …", "assistant c done"],
    ]);
  });

  test("begins inside a turn that is too long", () => {
    const messages = [user("a"), ...["1", "2", "3", "4"].flatMap((id) => round(id, 300))];
    expect(kept(messages, 650)).toEqual(["assistant +3", "result 3 …", "assistant +4", "result 4 …"]);
  });

  test("has the last user message while its turn is not much longer than what is kept", () => {
    const messages = [user("a"), ...round("0", 600), user("c"), ...round("1", 900), ...round("2", 400)];
    expect(kept(messages, 700)?.[0]).toBe("user c");
  });

  test("always has an input that waits for its answer, however long", () => {
    const messages = [user("a"), assistant(["b"]), user(long(5000))];
    expect(kept(messages, 100)).toEqual(["user …"]);
  });

  test("is nothing when the last round alone is too long", () => {
    expect(kept([user("a"), ...round("1", 5000)], 100)).toEqual([]);
  });

  test("is the last turn of a conversation that would fit as a whole", () => {
    expect(kept([user("a"), assistant(["b"]), user("c"), assistant(["d"])], 1000)).toEqual(["user c", "assistant d"]);
  });

  test("never reaches back over an earlier summary", () => {
    const messages = [system("p"), summary, user("a"), assistant(["b"]), user("c")];
    expect(findCut(messages, 1000)).toEqual({ from: 2, to: 4 });
  });

  test.each<[string, Message[]]>([
    ["an empty conversation", []],
    ["a single input", [system("p"), user("a")]],
    ["one short turn", [user("a"), assistant(["b"])]],
    ["a summary and an input", [system("p"), summary, user("a")]],
    ["a call that is open", [system("p"), assistant([toolCall("1")])]],
  ])("is all of %s: there is nothing to summarize", (_name, messages) => {
    expect(findCut(messages, 1000)).toBeUndefined();
  });
});

/** A history as crashes, aborts, steering and earlier compactions leave it. */
function randomHistory(random: Random): Message[] {
  const messages: Message[] = random(3) === 0 ? [system("p"), summary] : [];
  let id = 0;
  const text = () => long(random(6) === 0 ? random(500) : random(20));
  for (let i = random(25); i > 0; i--) {
    const kind = random(10);
    if (kind < 3) messages.push(user(text() || "a"));
    else if (kind === 3) messages.push(toolResult(`lost${id++}`, text()));
    else if (kind === 4) messages.push(assistant(["bad", toolCall(`e${id++}`)], { stopReason: "error" }));
    else {
      const calls = Array.from({ length: random(4) }, () => toolCall(`c${id++}`));
      messages.push(assistant([text() || "b", ...calls]));
      for (const call of calls) {
        if (random(5) === 0) messages.push(user("by the way"));
        if (random(8) !== 0) messages.push(toolResult(call.id, text()));
      }
    }
  }
  return messages;
}

test("no random history is cut between a call and its result, and both parts can be sent", () => {
  let cuts = 0;
  for (let seed = 1; seed <= 3000; seed++) {
    const random = createRandom(seed);
    const messages = randomHistory(random);
    const cut = findCut(messages, pick(random, [0, 5, 50, 500, 5000]));
    if (!cut) continue;
    cuts++;
    const [before, after] = [messages.slice(cut.from, cut.to), messages.slice(cut.to)];
    const callsIn = (part: readonly Message[]) =>
      part.flatMap((message) =>
        message.role === "assistant" && message.stopReason !== "error"
          ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
          : [],
      );
    const resultsIn = (part: readonly Message[]) =>
      part.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
    const context = `seed ${seed}`;
    expect([context, after[0]?.role === "toolResult"]).toEqual([context, false]);
    const split = callsIn(before).filter((id) => resultsIn(after).includes(id));
    expect([context, ...split]).toEqual([context]);
    expect([context, before.length > 0]).toEqual([context, true]);
    expect([context, ...checkHistory(repairHistory([summary, ...after]))]).toEqual([context]);
    expect(estimateTokens(before)).toBeGreaterThan(0);
  }
  expect(cuts).toBeGreaterThan(1500);
});
