// The repair of a history before it is sent: known damages one by one, and random damage against what must hold for all.
import { describe, expect, test } from "bun:test";
import { repairHistory } from "../../src/agent/repair-history.ts";
import type { AssistantContent, Message, ModelMessage } from "../../src/protocol/message.ts";
import { checkHistory } from "../helpers/history-invariants.ts";
import { assistant, outline, system, toolCall, toolResult, user } from "../helpers/messages.ts";

const a = toolCall("a");
const b = toolCall("b");
const lost = "Error: interrupted before it finished; there is no result";

const damages: readonly [name: string, history: Message[], expected: string[]][] = [
  ["a good history stays", [user("hi"), assistant(["ok"])], ["user hi", "assistant ok"]],
  ["system messages travel apart", [system("be"), user("hi")], ["user hi"]],
  [
    "a call without a result gets one",
    [user("hi"), assistant([a, b]), toolResult("a", "1"), user("next")],
    ["user hi", "assistant +a +b", "result a 1", `result b ${lost}`, "user next"],
  ],
  [
    "a call at the very end gets a result",
    [user("hi"), assistant(["x", a])],
    ["user hi", "assistant x +a", `result a ${lost}`],
  ],
  [
    "a late result moves directly behind its call",
    [assistant([a, b]), user("hurry"), toolResult("b", "2"), toolResult("a", "1")],
    ["assistant +a +b", "result a 1", "result b 2", "user hurry"],
  ],
  [
    "a second result of one call goes",
    [assistant([a]), toolResult("a", "1"), toolResult("a", "2"), user("x")],
    ["assistant +a", "result a 1", "user x"],
  ],
  ["a result without a call goes", [user("hi"), toolResult("z", "?"), assistant(["ok"])], ["user hi", "assistant ok"]],
  [
    "an id used again in a later answer has its own result",
    [assistant([a]), toolResult("a", "1"), assistant([a]), toolResult("a", "2")],
    ["assistant +a", "result a 1", "assistant +a", "result a 2"],
  ],
  [
    "a result is not taken from a later answer with the same id",
    [assistant([a]), assistant([a]), toolResult("a", "2")],
    ["assistant +a", `result a ${lost}`, "assistant +a", "result a 2"],
  ],
  [
    "a failed answer goes with its calls and their results",
    [user("hi"), assistant(["half", a], { stopReason: "error" }), toolResult("a", "1"), assistant(["ok"])],
    ["user hi", "assistant ok"],
  ],
  [
    "an answer that the user stopped stays",
    [user("hi"), assistant(["half"], { stopReason: "aborted" }), user("go on")],
    ["user hi", "assistant half", "user go on"],
  ],
  [
    "an empty tool output gets a placeholder",
    [assistant([a]), toolResult("a", "")],
    ["assistant +a", "result a (no output)"],
  ],
  ["a blank user message goes", [user("  "), user([{ type: "text", text: "\n" }]), user("hi")], ["user hi"]],
  [
    "a blank text goes from beside a call",
    [assistant(["\n", a]), toolResult("a", "1")],
    ["assistant +a", "result a 1"],
  ],
  ["a blank answer goes", [user("hi"), assistant(["\n"]), user("again")], ["user hi", "user again"]],
  [
    "an answer of nothing but thinking goes",
    [user("hi"), assistant([{ type: "thinking", thinking: "hm" }]), user("again")],
    ["user hi", "user again"],
  ],
  ["white space behind the last answer goes", [user("hi"), assistant(["Hello \n"])], ["user hi", "assistant Hello"]],
  [
    "white space behind an earlier answer stays",
    [assistant(["Hello \n"]), user("hi")],
    ["assistant Hello \n", "user hi"],
  ],
  [
    "half a surrogate pair and NUL go",
    [user("a\ud83cb\0"), assistant([{ type: "thinking", thinking: "\udf0d" }, toolCall("a")]), toolResult("a", "\0x")],
    ["user a\ufffdb", "assistant (\ufffd) +a", "result a x"],
  ],
  [
    "ids lose broken characters together with their results",
    [assistant([toolCall("i\0d"), toolCall("id\ud83d")]), toolResult("id\ud83d", "2"), toolResult("i\0d", "1")],
    ["assistant +id +id\ufffd", "result id 1", "result id\ufffd 2"],
  ],
  [
    "ids that are the same once clean stay apart, and the one that was clean stays",
    [assistant([toolCall("a\0"), toolCall("a")]), toolResult("a\0", "1"), toolResult("a", "2")],
    ["assistant +a_2 +a", "result a_2 1", "result a 2"],
  ],
  [
    "calls that share an id get ids and results of their own",
    [assistant([a, a]), toolResult("a", "1"), toolResult("a", "2")],
    ["assistant +a +a_2", "result a 1", "result a_2 2"],
  ],
  [
    "empty ids are made up, each once in the conversation",
    [assistant([toolCall("")]), toolResult("", "1"), assistant([toolCall("")]), toolResult("", "2")],
    ["assistant +call", "result call 1", "assistant +call_2", "result call_2 2"],
  ],
];

test.each(damages)("%s", (_name, history, expected) => {
  const repaired = repairHistory(history);
  expect(outline(repaired)).toEqual(expected);
  expect(checkHistory(repaired)).toEqual([]);
});

test("arguments keep their shape and lose broken characters at any depth", () => {
  const args = { path: "a\0", list: ["\ud83c", { "k\0": 1 }], n: null };
  const [message] = repairHistory([assistant([toolCall("a", "write", args)]), toolResult("a", "1")]);
  expect(message).toEqual(assistant([toolCall("a", "write", { path: "a", list: ["\ufffd", { k: 1 }], n: null })]));
});

test.each([
  ["", "unnamed_tool"],
  ["ba\0sh", "ba_sh"],
  ["functions.bash", "functions_bash"],
  ["x".repeat(70), "x".repeat(64)],
  ["mcp__docs__search", "mcp__docs__search"],
])("the name %j of a call goes out as %j, with its result", (name, expected) => {
  const [message, result] = repairHistory([assistant([toolCall("a", name)]), toolResult("a", "1", { toolName: name })]);
  expect(message).toEqual(assistant([toolCall("a", expected)]));
  expect(result).toEqual(toolResult("a", "1", { toolName: expected }));
});

test("a made-up result is an error of the call's tool, the same each time", () => {
  const history = [user("hi"), assistant([toolCall("a", "write")], { timestamp: 7 })];
  const [, , result] = repairHistory(history);
  expect(result).toEqual({
    role: "toolResult",
    toolCallId: "a",
    toolName: "write",
    content: [{ type: "text", text: lost }],
    isError: true,
    timestamp: 7,
  });
  expect(repairHistory(history)[2]).toEqual(result as ModelMessage);
});

describe("random histories with random damage", () => {
  const seeds = Array.from({ length: 500 }, (_, i) => i + 1);

  test("are sendable after the repair, and a second repair changes nothing", () => {
    for (const seed of seeds) {
      const history = damage(randomHistory(createRandom(seed)), createRandom(seed + 1_000_000));
      const before = JSON.stringify(history);
      const repaired = repairHistory(history);
      expect({ seed, problems: checkHistory(repaired) }).toEqual({ seed, problems: [] });
      expect({ seed, again: repairHistory(repaired) }).toEqual({ seed, again: repaired });
      expect(JSON.stringify(history)).toBe(before);
    }
  });

  test("keep every message that needs no change as the same object, in order", () => {
    for (const seed of seeds) {
      const random = createRandom(seed);
      const history = randomHistory(random, { clean: true });
      const repaired = repairHistory(history);
      expect(repaired.length).toBe(history.length);
      for (const [i, message] of repaired.entries()) expect(message).toBe(history[i] as ModelMessage);
    }
  });

  test("give a longer history whose beginning is the shorter one's", () => {
    for (const seed of seeds) {
      const history = randomHistory(createRandom(seed));
      // A prompt ends every request, so the answers before it are complete and not the last.
      const cut = history.findLastIndex(({ role }) => role === "user");
      const shorter = JSON.stringify(repairHistory(history.slice(0, cut + 1))).slice(0, -1);
      expect(JSON.stringify(repairHistory(history)).startsWith(shorter)).toBe(true);
    }
  });
});

type Random = (below: number) => number;

/** A small seeded generator (mulberry32), so that a failure can be repeated by its seed. */
function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random(items.length)] as T;
}

/** Prompts and answers with calls and results, as a session would hold them; `clean` leaves out texts that need a repair. */
function randomHistory(random: Random, { clean = false } = {}): Message[] {
  const good = ["hi", "北🌍", "two\nlines", " x"];
  const texts = clean ? good : [...good, "", "  \n", "a\ud83c", "b\0c", "tail \n"];
  const names = clean ? ["bash", "read"] : ["bash", "read", "", "b\0sh", "functions.read", "n\ud83c", "x".repeat(70)];
  const ids = clean ? ["call_"] : ["call_", "call_", "", "\0", "c\0_", "c\ud83c", "call_0"];
  const history: Message[] = [];
  for (let round = random(5) + 1; round > 0; round--) {
    history.push(user(clean || random(2) ? pick(random, texts) : [{ type: "text", text: pick(random, texts) }]));
    for (let turn = random(4); turn > 0; turn--) {
      const calls = Array.from({ length: random(4) }, (_, i) => {
        const id = pick(random, ids);
        return toolCall(id === "call_" ? `call_${i}` : id, pick(random, names), { path: pick(random, texts) });
      });
      const blocks: AssistantContent[] = [];
      if (random(2)) blocks.push({ type: "thinking", thinking: pick(random, texts) });
      if (clean || random(2)) blocks.push({ type: "text", text: pick(random, texts) });
      const stopReason = clean ? "stop" : pick(random, ["stop", "toolUse", "aborted", "error"] as const);
      history.push(assistant([...blocks, ...calls], { stopReason }));
      for (const { id, name } of calls) history.push(toolResult(id, pick(random, texts), { toolName: name }));
    }
  }
  return history;
}

/** Cuts the history at both ends and drops, doubles and swaps messages in it. */
function damage(history: readonly Message[], random: Random): Message[] {
  const from = random(3) === 0 ? random(history.length) : 0;
  const to = random(3) === 0 ? random(history.length) : history.length;
  const damaged = history.slice(from, Math.max(from, to));
  for (let times = random(4); times > 0 && damaged.length > 1; times--) {
    const at = random(damaged.length);
    const message = damaged[at] as Message;
    switch (random(3)) {
      case 0:
        damaged.splice(at, 1);
        break;
      case 1:
        damaged.splice(random(damaged.length), 0, message);
        break;
      case 2:
        damaged.splice(at, 1);
        damaged.splice(random(damaged.length + 1), 0, message);
    }
  }
  return damaged;
}
