// RPC mode: which session it is, what is in it, and what becomes of it.
import { expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Reply } from "../helpers/replay-server.ts";
import { connect } from "../helpers/rpc-client.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

const said = (text: string): Reply => ({ turn: { text } });

test("a new session, a fork and a clone are others; what was said stays where it was", async () => {
  await using setup = await connect([said("1"), said("2"), said("3")]);
  const { rpc, server } = setup;
  await rpc.prompt("one");
  await rpc.prompt("two");
  const first = await rpc.ask("get_state");
  expect(first.sessionFile).toContain(first.sessionId);
  expect(existsSync(first.sessionFile ?? "")).toBe(true);

  const { messages } = await rpc.ask("get_fork_messages");
  expect(messages.map(({ text }) => text)).toEqual(["one", "two"]);
  expect(await rpc.ask("fork", { entryId: messages[1]?.entryId })).toEqual({ text: "two", cancelled: false });
  const forked = await rpc.ask("get_state");
  expect(forked.sessionId).not.toBe(first.sessionId);
  expect((await rpc.ask("get_messages")).messages.map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
  await rpc.prompt("another two");
  expect(server.requests[2]?.body.messages.slice(1).map(({ content }: { content: string }) => content)).toEqual([
    "one",
    "1",
    "another two",
  ]);

  expect(await rpc.ask("clone")).toEqual({ cancelled: false });
  const cloned = await rpc.ask("get_state");
  expect(cloned.messageCount).toBe(5);
  expect(cloned.sessionId).not.toBe(forked.sessionId);

  expect(await rpc.ask("new_session", { parentSession: first.sessionFile })).toEqual({ cancelled: false });
  expect(await rpc.ask("get_state")).toMatchObject({ messageCount: 0 });

  expect(await rpc.ask("switch_session", { sessionPath: first.sessionFile })).toEqual({ cancelled: false });
  expect(await rpc.ask("get_state")).toMatchObject({ sessionId: first.sessionId, messageCount: 5 });
  const missing = await rpc.send({ type: "switch_session", sessionPath: "/nowhere/x.jsonl" });
  expect(missing).toMatchObject({ success: false, error: expect.stringContaining("/nowhere/x.jsonl") });
  expect((await rpc.ask("get_state")).sessionId).toBe(first.sessionId);
  const wrong = await rpc.send({ type: "fork", entryId: "ffffffff" });
  expect(wrong).toMatchObject({ success: false, error: expect.stringContaining("'entryId'") });
});

test("entries come in order, all of them or those behind one that is known, and as the tree they are", async () => {
  await using setup = await connect([said("1"), said("2")]);
  const { rpc } = setup;
  await rpc.prompt("one");
  const before = await rpc.ask("get_entries");
  expect(before.entries.map(({ type }) => type)).toEqual(["model_change", "message", "message", "message"]);
  expect(before.leafId).toBe(before.entries.at(-1)?.id ?? null);
  await rpc.prompt("two");
  const { entries } = await rpc.ask("get_entries", { since: before.leafId });
  expect(entries.map((entry) => entry.type === "message" && entry.message.role)).toEqual(["user", "assistant"]);
  expect(await rpc.send({ type: "get_entries", since: "nope" })).toMatchObject({
    success: false,
    error: expect.stringContaining("nope"),
  });
  const { tree, leafId } = await rpc.ask("get_tree");
  const way: string[] = [];
  for (let node = tree[0]; node; node = node.children[0]) way.push(node.entry.id);
  expect(way).toEqual([...before.entries, ...entries].map(({ id }) => id));
  expect(leafId).toBe(way.at(-1) ?? null);
});

test("a session of ten thousand entries is told as a tree", async () => {
  await using dir = tmp();
  const header = { type: "session", version: 3, id: "long", timestamp: "2026-01-01T00:00:00.000Z", cwd: dir.path };
  const timestamp = header.timestamp;
  const lines = Array.from({ length: 10_000 }, (_, i) => ({
    type: "message",
    id: `e${i}`,
    parentId: i === 0 ? null : `e${i - 1}`,
    timestamp,
    message: { role: "user", content: `m${i}`, timestamp: i },
  }));
  writeFileSync(dir.file("long.jsonl"), [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
  // Too deep for the schema's own recursion, so the answer is looked at here.
  const { stdout } = await runCli(["--mode", "rpc", "--session", dir.file("long.jsonl")], {
    cwd: dir.path,
    env: { ANTHROPIC_API_KEY: "sk-x" },
    stdin: { text: '{"id":"t","type":"get_tree"}\n' },
  });
  const answer = JSON.parse(stdout);
  let depth = 0;
  const { tree } = answer.data as { tree: { children: never[] }[] };
  for (let node = tree[0]; node; node = node.children[0]) depth++;
  expect(depth).toBe(10_000);
});

test("a session that is switched to tells how many of its lines are lost", async () => {
  await using setup = await connect([said("1"), said("2")]);
  const { rpc } = setup;
  await rpc.prompt("one");
  const { sessionFile = "" } = await rpc.ask("get_state");
  await rpc.ask("new_session");
  appendFileSync(sessionFile, "{not json}\n");
  await rpc.ask("switch_session", { sessionPath: sessionFile });
  expect(await rpc.ask("get_state")).toMatchObject({ messageCount: 3 });
  rpc.end();
  await rpc.exited;
  expect(rpc.stderr()).toBe("warning: 1 line of the session could not be read and is left out\n");
});

test("a session has a name, and statistics", async () => {
  const turn: Reply = { turn: { text: "1", usage: { prompt: 1000, completion: 100, cached: 400 } } };
  await using setup = await connect([turn]);
  const { rpc } = setup;
  await rpc.ask("set_session_name", { name: " the parser " });
  expect(rpc.records[0]).toEqual({ type: "session_info_changed", name: "the parser" });
  expect(await rpc.ask("get_state")).toMatchObject({ sessionName: "the parser" });
  expect(await rpc.send({ type: "set_session_name", name: "  " })).toMatchObject({
    success: false,
    error: expect.stringContaining("'name'"),
  });
  await rpc.prompt("one");
  expect(await rpc.ask("get_session_stats")).toMatchObject({
    userMessages: 1,
    assistantMessages: 1,
    totalMessages: 3,
    tokens: { input: 600, output: 100, cacheRead: 400, cacheWrite: 0, total: 1100 },
    contextUsage: { tokens: 1100 },
  });
});

test("a session is exported as a page", async () => {
  await using dir = tmp();
  await using setup = await connect([said("the answer")], { cwd: dir.path });
  const { rpc } = setup;
  await rpc.prompt("the question");
  expect(await rpc.ask("export_html", { outputPath: "page.html" })).toEqual({ path: dir.file("page.html") });
  const page = readFileSync(dir.file("page.html"), "utf8");
  expect(page).toContain("the question");
  expect(page).toContain("the answer");
  writeFileSync(dir.file("mine.txt"), "mine");
  expect(await rpc.send({ type: "export_html", outputPath: "mine.txt" })).toMatchObject({ success: false });
});

test("another session ends what runs in this one", async () => {
  await using setup = await connect([{ body: [new Promise(() => {})] }, said("2")]);
  const { rpc, server } = setup;
  await rpc.ask("prompt", { message: "one" });
  await server.request(0);
  await rpc.ask("follow_up", { message: "queued" });
  await rpc.ask("new_session");
  expect(rpc.records.filter(({ type }) => type === "agent_settled")).toEqual([
    { type: "agent_settled", aborted: true },
  ]);
  expect(await rpc.ask("get_state")).toMatchObject({ isStreaming: false, messageCount: 0, pendingMessageCount: 0 });
  await rpc.prompt("two");
  expect(server.requests[1]?.body.messages).toHaveLength(2);
});
