import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildContext, type Entry, type OrUnknown, readSession, readSessionHeader } from "../../src/index.ts";
import * as tree from "../../src/protocol/tree.ts";
import { readSessionFile } from "../../src/session/read.ts";
import { failureOf } from "../helpers/fake-client.ts";
import { tmp } from "../helpers/tmp.ts";

const folder = join(import.meta.dir, "../fixtures/sessions");

async function entriesOf(path: string, onDamage?: (lost: number) => void): Promise<OrUnknown<Entry>[]> {
  const entries: OrUnknown<Entry>[] = [];
  for await (const entry of readSession(path, { onDamage })) entries.push(entry);
  return entries;
}

test.each(readdirSync(folder))("%s is read as the agent itself reads it, and gives the same context", async (name) => {
  const path = join(folder, name);
  const stored = readSessionFile(path);
  const entries = await entriesOf(path);
  expect(entries).toEqual(stored.entries as OrUnknown<Entry>[]);
  expect(entries.length).toBeGreaterThan(2);
  expect(await readSessionHeader(path)).toEqual(stored.header);
  const leaf = stored.entries.at(-1)?.id ?? null;
  expect(buildContext(entries)).toEqual(tree.buildContext(stored.entries, leaf) as ReturnType<typeof buildContext>);
  expect(buildContext(entries).messages.length).toBeGreaterThan(0);
});

const at = "2026-01-01T00:00:00.000Z";
const say = (id: string, parentId: string | null, content: string) => ({
  type: "message",
  id,
  parentId,
  timestamp: at,
  message: { role: "user", content, timestamp: 1 },
});
const header = { type: "session", version: 3, id: "s", timestamp: at, cwd: "/" };

test("a branch is chosen by its last entry; entries of unknown types keep their place in it", async () => {
  await using dir = tmp();
  const leap = { type: "leap", id: "b", parentId: "a", timestamp: at };
  const records = [header, say("a", null, "one"), leap, say("c", "b", "two"), say("d", "a", "other")];
  writeFileSync(dir.file("s.jsonl"), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const entries = await entriesOf(dir.file("s.jsonl"));
  expect(entries[1]).toEqual({ type: "unknown", id: "b", parentId: "a", timestamp: at, raw: leap });
  const contents = (leafId?: string | null) => {
    const { messages } = buildContext(entries, leafId);
    return messages.map((message) => (message.role === "user" ? message.content : message.role));
  };
  expect(contents()).toEqual(["one", "other"]);
  expect(contents("c")).toEqual(["one", "two"]);
  expect(contents(null)).toEqual([]);
  expect(buildContext([]).messages).toEqual([]);
});

test("a branch that is not there is an error, and none is an empty conversation", () => {
  expect(() => buildContext([], "nowhere")).toThrow(new RangeError("None of the 0 entries has the id nowhere"));
  expect(buildContext([], null).messages).toEqual([]);
  expect(buildContext([]).messages).toEqual([]);
});

test("lines that cannot be read cost themselves alone, and are counted", async () => {
  await using dir = tmp();
  const lines = [
    JSON.stringify(header),
    "{half",
    JSON.stringify(say("a", null, "é\u2028😀")),
    "",
    '{"type":"message"}',
  ];
  // The last line has no end.
  writeFileSync(dir.file("s.jsonl"), `${lines.join("\r\n")}\n${JSON.stringify(say("b", "a", "two"))}`);
  const lost: number[] = [];
  const entries = await entriesOf(dir.file("s.jsonl"), (count) => lost.push(count));
  expect(entries).toEqual([say("a", null, "é\u2028😀"), say("b", "a", "two")] as OrUnknown<Entry>[]);
  expect(lost).toEqual([1, 1]);
});

test("a file that is not there is the file system's error; an empty one has no header", async () => {
  await using dir = tmp();
  expect(await failureOf(readSessionHeader(dir.file("none")))).toMatchObject({ code: "ENOENT" });
  expect(await failureOf(entriesOf(dir.file("none")))).toMatchObject({ code: "ENOENT" });
  writeFileSync(dir.file("empty"), "");
  expect(await readSessionHeader(dir.file("empty"))).toBeUndefined();
  expect(await entriesOf(dir.file("empty"))).toEqual([]);
});
