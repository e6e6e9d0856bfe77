// Sessions in lists and by name: known from the head and the tail of their files.
import { expect, test } from "bun:test";
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { readStored } from "../../src/app/stored-sessions.ts";
import { findSession } from "../../src/session/find.ts";
import { latestSession, listSessions, summarize } from "../../src/session/list.ts";
import { createSession, openSession } from "../../src/session/store.ts";
import { system, user } from "../helpers/messages.ts";
import { writeSession } from "../helpers/session-file.ts";
import { tmp } from "../helpers/tmp.ts";

/** Sets when a file was last written to, in seconds. */
const writtenAt = (path: string, seconds: number) => utimesSync(path, seconds, seconds);

test("the latest first; those of a directory alone, even where two directories share a folder", async () => {
  await using dir = tmp();
  const one = writeSession(dir.path, "/a/b", 1, { name: "one" });
  const two = writeSession(dir.path, "/a/b", 1);
  const twin = writeSession(dir.path, "/a-b", 1);
  const other = writeSession(dir.path, "/c", 1);
  for (const [i, { path }] of [two, one, twin, other].entries()) writtenAt(path, 1000 + i);
  writeFileSync(`${dir.path}/--a-b--/notes.txt`, "no session");
  writeFileSync(`${dir.path}/--a-b--/empty.jsonl`, "");
  const shown = (sessions: ReturnType<typeof listSessions>) => sessions.map(({ id }) => id);
  expect(shown(listSessions(dir.path))).toEqual([other.id, twin.id, one.id, two.id]);
  expect(shown(listSessions(dir.path, "/a/b"))).toEqual([one.id, two.id]);
  expect(latestSession(dir.path, "/a/b")?.id).toBe(one.id);
  expect(latestSession(dir.path, "/nowhere")).toBeUndefined();
  expect(listSessions(dir.file("missing"))).toEqual([]);
  expect(listSessions(dir.path, "/a/b")[0]).toMatchObject({
    path: one.path,
    cwd: "/a/b",
    name: "one",
    firstText: "question 1 ü北🌍",
    modified: 1001_000,
    size: readFileSync(one.path).length,
  });
});

test("files that lie in the folder itself count too", async () => {
  await using dir = tmp();
  const { path, id } = writeSession(dir.file("elsewhere"), "/a", 1);
  mkdirSync(dir.file("root"));
  copyFileSync(path, dir.file(`root/x_${id}.jsonl`));
  expect(latestSession(dir.file("root"), "/a")?.id).toBe(id);
});

test("the user's first words are found behind a long system prompt, also when they are long themselves", async () => {
  await using dir = tmp();
  const session = createSession({ root: dir.path, cwd: "/a" });
  session.append({ type: "message", message: system("x".repeat(200_000)) });
  session.append({ type: "message", message: user(`line "one"\n${"ü\\".repeat(100_000)}`) });
  session.close();
  expect(summarize(session.path as string)?.firstText).toStartWith('line "one"\nü\\ü\\');
});

test("a name given early is found in a long file, and the last one counts", async () => {
  await using dir = tmp();
  const session = createSession({ root: dir.path, cwd: "/a" });
  session.append({ type: "message", message: user("hi") });
  session.append({ type: "message", message: user("x".repeat(100_000)) });
  session.append({ type: "session_info", name: "first name" });
  session.append({ type: "session_info", name: "the name" });
  session.append({ type: "message", message: user("y".repeat(100_000)) });
  const path = session.path as string;
  // Nobody looks into the middle of a file for a list, but for a name that is asked for.
  expect(summarize(path)?.name).toBeUndefined();
  expect(findSession(dir.path, "the na", "/a").path).toBe(path);
  session.close();
  expect(summarize(path)?.name).toBe("the name");
  openSession(path).session.close();
  expect(readFileSync(path, "utf8").split('"session_info"')).toHaveLength(4);
});

test("a name that was taken away is one nowhere, however long the file gets", async () => {
  await using dir = tmp();
  const session = createSession({ root: dir.path, cwd: "/a" });
  session.append({ type: "message", message: user("hi") });
  session.append({ type: "session_info", name: "first name" });
  session.append({ type: "session_info", name: "" });
  expect(session.name()).toBeUndefined();
  session.append({ type: "message", message: user("y".repeat(100_000)) });
  session.close();
  const path = session.path as string;
  expect(summarize(path)?.name).toBeUndefined();
  const place = { cwd: "/a", env: {}, sessionDir: dir.path };
  expect(readStored(path, place).summary.name).toBeUndefined();
});

test("by id, the beginning of an id, name, the beginning of a name, and path", async () => {
  await using dir = tmp();
  const here = writeSession(dir.path, "/here", 1, { id: "aaa1", name: "The Parser" });
  const there = writeSession(dir.path, "/there", 1, { id: "aab2", name: "the parser" });
  writeSession(dir.path, "/there", 1, { id: "aab22", name: "lexer one" });
  writeSession(dir.path, "/there", 1, { id: "b", name: "lexer two" });
  const find = (query: string) => findSession(dir.path, query, "/here").path;
  expect(find("aaa")).toBe(here.path);
  expect(find("aab2")).toBe(there.path);
  expect(find("the PARSER")).toBe(here.path);
  expect(find("the p")).toBe(here.path);
  expect(find(there.path)).toBe(there.path);
  expect(() => find("aa")).toThrow("'aa' could be any of 3 sessions");
  expect(() => find("lexer")).toThrow("'lexer' could be any of 2 sessions");
  expect(() => find("nothing")).toThrow("No session has the id or name 'nothing'");
  try {
    find("aab");
  } catch (error) {
    expect(
      (error as { hint: string }).hint
        .split("\n")
        .map((line) => line.trim())
        .sort(),
    ).toEqual(["aab2  the parser", "aab22  lexer one"]);
  }
});

test("what else a header says counts where it is text", async () => {
  await using dir = tmp();
  const path = dir.file("x_1.jsonl");
  const header = { type: "session", version: 3, id: "1", timestamp: 5, cwd: "/a", parentSession: 7 };
  writeFileSync(path, `${JSON.stringify(header)}\n`);
  expect(summarize(path)).toMatchObject({ id: "1", cwd: "/a", created: undefined, parentSession: undefined });
});

test("a name that is no text is none, for whoever looks for another", async () => {
  await using dir = tmp();
  const { path } = writeSession(dir.path, "/here", 1);
  appendFileSync(path, '{"type":"session_info","id":"i","parentId":null,"timestamp":"","name":5}\n');
  expect(() => findSession(dir.path, "parser", "/here")).toThrow("No session has the id or name 'parser'");
});

test("a name may look like a path", async () => {
  await using dir = tmp();
  const { path } = writeSession(dir.path, "/here", 1, { name: "feature/login.jsonl" });
  expect(findSession(dir.path, "feature/login.jsonl", "/here").path).toBe(path);
  expect(() => findSession(dir.path, "feature/logout", "/here")).toThrow("There is no session /here/feature/logout");
});

test("of several sessions with one id the paths are told", async () => {
  await using dir = tmp();
  const [one, two] = ["/a", "/b"].map((cwd) => writeSession(dir.path, cwd, 1, { id: "same" }).path);
  const hint = expect.stringContaining(`${one}  question 1`);
  expect(() => findSession(dir.path, "same", "/a")).toThrow(expect.objectContaining({ hint }));
  expect(findSession(dir.path, two as string, "/a").path).toBe(two as string);
});

test("what is no file is told at once, also a pipe that nobody writes to, and is in no list", async () => {
  await using dir = tmp();
  Bun.spawnSync(["mkfifo", dir.file("x_1.jsonl")]);
  for (const path of [dir.path, dir.file("x_1.jsonl")]) {
    expect(() => findSession(dir.path, path, "/a")).toThrow(`${path} is no file`);
    expect(() => openSession(path)).toThrow(`${path} is no file`);
  }
  expect(listSessions(dir.path)).toEqual([]);
});

test("a folder of sessions that cannot be read is not taken for one without any", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("file"), "");
  const message = expect.stringContaining(`Cannot read the folder of the sessions ${dir.file("file")}: ENOTDIR`);
  const error = expect.objectContaining({ code: "session", message });
  for (const look of [
    () => listSessions(dir.file("file")),
    () => listSessions(dir.file("file"), "/a"),
    () => latestSession(dir.file("file"), "/a"),
    () => findSession(dir.file("file"), "x", "/a"),
  ])
    expect(look).toThrow(error);
});

test("a damaged file is listed by what is left of it", async () => {
  await using dir = tmp();
  const { path, id } = writeSession(dir.path, "/a", 1);
  const [, ...lines] = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, `{"type":"sess\n${lines.join("\n")}`);
  appendFileSync(path, '{"type":"mess');
  expect(listSessions(dir.path)).toMatchObject([{ id, cwd: undefined, firstText: "question 1 ü北🌍" }]);
  expect(latestSession(dir.path, "/a")?.id).toBe(id);
});
