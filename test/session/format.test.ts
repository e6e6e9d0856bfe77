// The file format: what others wrote opens, what is written here fits the same schemas, and what is unknown stays as it is.
import { expect, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repairHistory } from "../../src/agent/repair-history.ts";
import { Entry, type EntryDraft, SessionHeader } from "../../src/protocol/entry.ts";
import { buildContext } from "../../src/protocol/tree.ts";
import { forkBranch, forkFile } from "../../src/session/fork.ts";
import { readSessionFile } from "../../src/session/read.ts";
import { createSession, openSession } from "../../src/session/store.ts";
import { checkHistory } from "../helpers/history-invariants.ts";
import { assistant, outline, system, toolCall, toolResult, user } from "../helpers/messages.ts";
import { linesOf, writeSession } from "../helpers/session-file.ts";
import { tmp } from "../helpers/tmp.ts";

const folder = `${import.meta.dir}/../fixtures/sessions`;
const recorded = readdirSync(folder);

test.each(recorded)("%s opens, is whole, and goes on", async (name) => {
  await using dir = tmp();
  const path = dir.file(name);
  copyFileSync(`${folder}/${name}`, path);
  const before = linesOf(path);
  const { session, badLines } = openSession(path);
  expect(badLines).toBe(0);
  expect(session.entries()).toHaveLength(before.length - 1);
  for (const entry of session.entries()) expect(Entry.safeParse(entry).error).toBeUndefined();
  const leaf = session.leafId();
  const added = session.append({ type: "message", message: user("and now?") });
  expect(added.parentId).toBe(leaf);
  expect(checkHistory(repairHistory(buildContext(session.entries(), session.leafId()).messages))).toEqual([]);
  session.close();
  const after = linesOf(path);
  expect(SessionHeader.parse(JSON.parse(after[0] as string)).version).toBe(3);
  // A file of this version is only added to.
  if (!name.startsWith("version-")) expect(after.slice(0, -1)).toEqual(before);
  expect(after).toHaveLength(before.length + 1);
});

test("the conversations of the recorded files", () => {
  const conversationOf = (name: string) => {
    const { entries } = readSessionFile(`${folder}/${name}.jsonl`);
    const { messages, model, thinkingLevel } = buildContext(entries, entries.at(-1)?.id ?? null);
    return { said: outline(messages.filter(({ role }) => role !== "system")), model, thinkingLevel };
  };
  expect(conversationOf("retried")).toEqual({
    said: ["user hi", "assistant", "user hi", "assistant Hello from the mock."],
    model: { provider: "mock", modelId: "error-500-once" },
    thinkingLevel: "off",
  });
  expect(conversationOf("compacted").said).toEqual(["compactionSummary", "assistant Hello from the mock."]);
  expect(conversationOf("version-1").said).toEqual(["compactionSummary", "user two", "assistant second", "user three"]);
  expect(conversationOf("version-2").said).toEqual(["user hi", "custom from a hook", "assistant Hello."]);
});

const drafts: readonly EntryDraft[] = [
  { type: "model_change", provider: "p", modelId: "m" },
  { type: "thinking_level_change", thinkingLevel: "high" },
  { type: "message", message: { ...system(""), sections: { one: "1", two: null } } },
  { type: "message", message: user("text \u2028 \ud800 \0") },
  { type: "message", message: assistant([{ type: "thinking", thinking: "hm" }, "ok", toolCall("c1")]) },
  { type: "message", message: toolResult("c1", "out") },
  {
    type: "message",
    message: { role: "bashExecution", command: "ls", output: "", cancelled: false, truncated: false, timestamp: 1 },
  },
  { type: "session_info", name: "a name" },
  { type: "label", targetId: "x", label: "here" },
  { type: "custom", customType: "state", data: { a: [1] } },
  { type: "custom_message", customType: "note", content: "seen", display: true },
  { type: "branch_summary", fromId: null, summary: "tried" },
  { type: "compaction", summary: "done", firstKeptEntryId: "x", tokensBefore: 5 },
  { type: "usage", kind: "summary", provider: "p", model: "m", usage: assistant([]).usage },
  { type: "context_edit", targetId: "x", replacement: null },
];

test("an entry of every kind is written as the schema has it, one line each, as a chain", async () => {
  await using dir = tmp();
  const session = createSession({ root: dir.path, cwd: "/work/place" });
  const written = drafts.map((draft) => session.append(draft));
  session.close();
  const [header, ...lines] = linesOf(session.path as string).map((line) => JSON.parse(line));
  expect(SessionHeader.parse(header)).toEqual({
    type: "session",
    version: 3,
    id: session.id,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    cwd: "/work/place",
  });
  expect(lines).toEqual(JSON.parse(JSON.stringify(written)));
  let parentId: string | null = null;
  for (const line of lines) {
    const entry: Entry = Entry.parse(line);
    expect(entry.id).toMatch(/^[0-9a-f]{8}$/);
    expect(entry.parentId).toBe(parentId);
    parentId = entry.id;
  }
  expect(session.path).toMatch(/\/--work-place--\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[0-9a-f-]{36}\.jsonl$/);
});

const unknown =
  '{"type":"hologram","id":"u1","parentId":"PARENT","timestamp":"2026-01-01T00:00:00Z","size":1.0,"big":12345678901234567890,"z":{"b":1,"a":2}}';

test("entries of unknown types, unknown fields and odd numbers are copied as they were written", async () => {
  await using dir = tmp();
  const { path } = writeSession(dir.file("s"), "/work", 2);
  const parent = JSON.parse(linesOf(path).at(-1) as string).id;
  writeFileSync(path, `${readFileSync(path, "utf8")}${unknown.replace("PARENT", parent)}\n`);
  const lines = linesOf(path).slice(1);

  const { session, badLines } = forkFile(path, { root: dir.file("s"), cwd: () => "/elsewhere" });
  session.close();
  expect(badLines).toBe(0);
  const [header, ...copied] = linesOf(session.path as string);
  expect(copied).toEqual(lines);
  expect(JSON.parse(header as string)).toMatchObject({ cwd: "/elsewhere", parentSession: path, id: session.id });
  expect(session.id).not.toBe(openSession(path).session.id);
});

test("a copy of a branch has the lines of that branch alone, as they were written", async () => {
  await using dir = tmp();
  const { path } = writeSession(dir.file("s"), "/work", 1);
  const { session } = openSession(path);
  const fork = session.leafId();
  session.append({ type: "message", message: user("left") });
  session.moveTo(fork);
  const kept = session.append({ type: "message", message: user("kept") });
  const copy = forkBranch(session, kept.id, { root: dir.file("s"), cwd: "/work" });
  expect(linesOf(copy.path as string).slice(1)).toEqual(
    linesOf(path)
      .slice(1)
      .filter((line) => !line.includes("left")),
  );
  const empty = forkBranch(session, null, { root: dir.file("s"), cwd: "/work" });
  expect([empty.stored(), empty.entries()]).toEqual([false, []]);
});

test("a file of an older version stays whole when the new one cannot be written", async () => {
  await using dir = tmp();
  const path = dir.file("a.jsonl");
  const before = readFileSync(`${folder}/version-1.jsonl`, "utf8").trimEnd();
  const last = JSON.stringify({ ...JSON.parse(before.split("\n").at(-1) ?? ""), padding: "x".repeat(4000) });
  writeFileSync(path, `${before}\n${last}\n`);
  const whole = readFileSync(path, "utf8");
  const store = join(import.meta.dir, "../../src/session/store.ts");
  const script = `(await import(${JSON.stringify(store)})).openSession(${JSON.stringify(path)})`;
  // No file of that process may grow beyond 1 KiB, whoever runs this.
  const opened = Bun.spawnSync(["bash", "-c", 'ulimit -f 1; exec "$0" -e "$1"', process.execPath, script]);
  expect(opened.exitCode).not.toBe(0);
  expect(opened.stderr.toString()).toContain("EFBIG");
  expect(readFileSync(path, "utf8")).toBe(whole);
  expect(readdirSync(dir.path)).toEqual(["a.jsonl"]);
});
