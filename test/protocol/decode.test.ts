import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  decodeCommand,
  decodeEntry,
  decodeMessage,
  decodeRecord,
  encodeCommand,
  encodeEntry,
  encodeMessage,
  encodeRecord,
} from "../../src/protocol/decode.ts";
import { Entry } from "../../src/protocol/entry.ts";
import { AgentEvent } from "../../src/protocol/event.ts";
import { type RpcCommandName, rpcCommands } from "../../src/protocol/rpc.ts";
import { problemOf } from "../../src/protocol/validate.ts";

const fixtures = join(import.meta.dir, "../fixtures");
const recordings = [
  ["1.6.0", join(fixtures, "wire")],
  ["0.86.1", join(fixtures, "wire-older/0.86.1")],
  ["0.84.4", join(fixtures, "wire-older/0.84.4")],
] as const;

/** The lines that a program or a client wrote, parsed, as far as they are objects. */
function linesOf(folder: string, direction: "in" | "out"): { at: string; text: string; value: object }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) =>
      readFileSync(join(folder, name), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .flatMap((line, i) => {
          const { dir, record } = JSON.parse(line) as { dir: string; record: unknown };
          if (dir !== direction || typeof record !== "object" || record === null) return [];
          return [{ at: `${name}:${i + 1}`, text: JSON.stringify(record), value: record }];
        }),
    );
}

/** Every place in a decoded value where something is unknown. */
function unknownsIn(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if ((value as { type?: unknown }).type === "unknown") return [value];
  return Object.values(value).flatMap(unknownsIn);
}

test.each(recordings)("every recorded line of pi %s is known and encodes to the very same JSON", (_, folder) => {
  const lines = linesOf(folder, "out");
  expect(lines.length).toBeGreaterThan(250);
  for (const { at, text, value } of lines) {
    const record = decodeRecord(value);
    expect({ at, unknown: unknownsIn(record) }).toEqual({ at, unknown: [] });
    expect({ at, text: JSON.stringify(encodeRecord(record)) }).toEqual({ at, text });
  }
});

test.each(recordings)("every recorded line of pi %s passes validation", (_, folder) => {
  for (const { at, text } of linesOf(folder, "out")) {
    // The recordings leave out the schemas of pi's own tools.
    const value = JSON.parse(text.replaceAll(/"parameters":"<[^"]*>"/g, '"parameters":{}'));
    expect({ at, problem: problemOf(value) }).toEqual({ at, problem: undefined });
  }
});

test.each(recordings)("of the commands recorded with pi %s only the one made up is unknown", (_, folder) => {
  const lines = linesOf(folder, "in").filter(({ value }) => !Array.isArray(value));
  expect(lines.length).toBeGreaterThan(50);
  const unknown = lines.flatMap(({ at, text, value }) => {
    const command = decodeCommand(value);
    expect({ at, text: JSON.stringify(encodeCommand(command)) }).toEqual({ at, text });
    return command.type === "unknown" ? [command.raw] : [];
  });
  for (const raw of unknown) expect([undefined, "no_such_command"]).toContain(raw.type as string);
  expect(unknown.some((raw) => raw.type === "no_such_command")).toBe(true);
});

test("every line of the recorded session files is known and encodes to the very same JSON", () => {
  const folder = join(fixtures, "sessions");
  for (const name of readdirSync(folder)) {
    const [, ...lines] = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
    for (const text of lines) {
      const entry = decodeEntry(JSON.parse(text));
      // Version 2 called a role by another name; it is migrated when a whole file is read.
      if (!text.includes("hookMessage")) expect({ text, unknown: unknownsIn(entry) }).toEqual({ text, unknown: [] });
      expect(JSON.stringify(encodeEntry(entry))).toBe(text);
    }
  }
});

test("what is known is the very object that came, unknown fields included", () => {
  const delta = {
    type: "message_update",
    usage: {},
    assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "x", speed: 3 },
    later: { of: "a newer version" },
  };
  expect(decodeRecord(delta)).toBe(delta as never);
  expect(encodeRecord(decodeRecord(delta))).toBe(delta);
});

const usage = {
  input: 1,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 1,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const block = { type: "hologram", frames: [1, 2] };
const user = { role: "user", content: [{ type: "text", text: "hi" }, block], timestamp: 1 };
const oracle = { role: "oracle", saying: "?", content: [{ type: "text", text: "…" }] };
const leap = { type: "leap", id: "b", parentId: "a", timestamp: "2026-01-01T00:00:00.000Z", far: true };
const place = { id: "a", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
const unknownBlock = { type: "unknown", raw: block };
const unknownUser = { ...user, content: [user.content[0], unknownBlock] };
const unknownOracle = { type: "unknown", role: "unknown", raw: oracle };
const unknownLeap = { type: "unknown", id: "b", parentId: "a", timestamp: leap.timestamp, raw: leap };

test.each<[string, object, object]>([
  ["an event", { type: "dream", of: "sheep" }, { type: "unknown", raw: { type: "dream", of: "sheep" } }],
  ["a record without a type", { id: "1" }, { type: "unknown", raw: { id: "1" } }],
  ["a record called unknown", { type: "unknown", raw: 1 }, { type: "unknown", raw: { type: "unknown", raw: 1 } }],
  ["a record called like a method of objects", { type: "toString" }, { type: "unknown", raw: { type: "toString" } }],
  [
    "a question",
    { type: "extension_ui_request", id: "1", method: "dance" },
    { type: "unknown", raw: { type: "extension_ui_request", id: "1", method: "dance" } },
  ],
  [
    "a part of a stream",
    { type: "message_update", usage, assistantMessageEvent: { type: "smell_delta", delta: "rose" } },
    {
      type: "message_update",
      usage,
      assistantMessageEvent: { type: "unknown", raw: { type: "smell_delta", delta: "rose" } },
    },
  ],
  ["a role", { type: "message_end", message: oracle }, { type: "message_end", message: unknownOracle }],
  ["a block", { type: "message_end", message: user }, { type: "message_end", message: unknownUser }],
  [
    "a role and a block among known ones",
    { type: "agent_end", messages: [user, oracle, { ...user, content: "hi" }], willRetry: false },
    { type: "agent_end", messages: [unknownUser, unknownOracle, { ...user, content: "hi" }], willRetry: false },
  ],
  [
    "a block of a tool's result",
    { type: "tool_execution_end", toolCallId: "1", toolName: "x", result: { content: [block] }, isError: false },
    { type: "tool_execution_end", toolCallId: "1", toolName: "x", result: { content: [unknownBlock] }, isError: false },
  ],
  ["an entry", { type: "entry_appended", entry: leap }, { type: "entry_appended", entry: unknownLeap }],
  [
    "messages of an answer",
    { type: "response", id: "1", command: "get_messages", success: true, data: { messages: [oracle] } },
    { type: "response", id: "1", command: "get_messages", success: true, data: { messages: [unknownOracle] } },
  ],
  [
    "entries of an answer",
    { type: "response", command: "get_entries", success: true, data: { entries: [leap], leafId: "b" } },
    { type: "response", command: "get_entries", success: true, data: { entries: [unknownLeap], leafId: "b" } },
  ],
  [
    "entries of a tree",
    {
      type: "response",
      command: "get_tree",
      success: true,
      data: {
        tree: [{ entry: { type: "label", ...place, targetId: "x" }, children: [{ entry: leap, children: [] }] }],
        leafId: "b",
      },
    },
    {
      type: "response",
      command: "get_tree",
      success: true,
      data: {
        tree: [{ entry: { type: "label", ...place, targetId: "x" }, children: [{ entry: unknownLeap, children: [] }] }],
        leafId: "b",
      },
    },
  ],
])("%s of an unknown kind is kept whole, counts as nothing wrong and encodes to what came", (_, value, expected) => {
  const text = JSON.stringify(value);
  const record = decodeRecord(value);
  expect(record).toEqual(expected as never);
  expect(JSON.stringify(encodeRecord(record))).toBe(text);
  // What was given is left as it was.
  expect(JSON.stringify(value)).toBe(text);
  expect(problemOf(value)).toBeUndefined();
});

test("an answer to an unknown command is an answer like any other", () => {
  const answer = { type: "response", id: "1", command: "levitate", success: true, data: { height: 3 } };
  expect(decodeRecord(answer)).toBe(answer as never);
});

test("messages and entries decode by themselves", () => {
  expect(decodeMessage(oracle)).toEqual(unknownOracle as never);
  expect(encodeMessage(decodeMessage(user))).toEqual(user);
  const entry = { type: "message", ...place, message: user };
  expect(decodeEntry(entry)).toEqual({ ...entry, message: unknownUser } as never);
  expect(encodeEntry(decodeEntry(entry))).toEqual(entry);
});

test("a tree as deep as a long session decodes and encodes", () => {
  let children: object[] = [];
  for (let i = 0; i < 50_000; i++) children = [{ entry: { ...leap, id: `${i}` }, children }];
  const answer = { type: "response", command: "get_tree", success: true, data: { tree: children, leafId: "1" } };
  const decoded = decodeRecord(answer) as unknown as { data: { tree: { entry: object }[] } };
  expect(decoded.data.tree[0]?.entry).toMatchObject({ type: "unknown", id: "49999" });
  const encoded = encodeRecord(decoded as never) as typeof answer;
  expect((encoded.data.tree[0] as { entry: object }).entry).toEqual({ ...leap, id: "49999" });
  expect(problemOf(answer)).toBeUndefined();
});

test("no type of the protocol's schemas is left out", () => {
  const tagsOf = (options: readonly { shape: object }[]) =>
    options.map(({ shape }) => (shape as { type: { def: { values: string[] } } }).type.def.values[0] as string);
  const types = [...tagsOf(AgentEvent.def.options), ...Object.keys(rpcCommands)];
  expect(types.length).toBeGreaterThan(50);
  for (const type of tagsOf(AgentEvent.def.options)) expect(decodeRecord({ type }).type).toBe(type as never);
  for (const type of tagsOf(Entry.def.options)) expect(decodeEntry({ type }).type).toBe(type as never);
  for (const type of Object.keys(rpcCommands)) expect(decodeCommand({ type }).type).toBe(type as RpcCommandName);
});

test.each([
  [{ type: "message_end", message: { ...user, timestamp: "now" } }, "'message.timestamp' must be of type number"],
  [{ type: "message_end", message: { ...user, content: [{ type: "text" }] } }, "'message.content.0.text' must be"],
  [{ type: "agent_end", messages: [] }, "'willRetry' must be of type boolean"],
  [{ type: "agent_settled", aborted: "no" }, "'aborted' must be of type boolean"],
  [{ type: "bash_execution_update", id: "1" }, "'delta' must be of type string"],
  [{ type: "response", id: "1", success: true }, "'command' must be of type string"],
  [{ type: "response", command: "get_tree", success: true, data: {} }, "'data.tree' is no list"],
  [
    { type: "response", command: "get_available_models", success: true, data: { models: {} } },
    "'data.models' must be of type array",
  ],
  [{ type: "extension_ui_request", id: "1", method: "select", title: "x" }, "'options' must be of type array"],
])("validation names the field that is wrong: %j", (record, problem) => {
  expect(problemOf(record)).toContain(problem);
});
