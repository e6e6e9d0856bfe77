// What is written when, for whom, and what remains when it cannot be.
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { latestSession } from "../../src/session/list.ts";
import { readSessionFile } from "../../src/session/read.ts";
import { createMemorySession, createSession, openSession } from "../../src/session/store.ts";
import { user } from "../helpers/messages.ts";
import { linesOf, writeSession } from "../helpers/session-file.ts";
import { tmp } from "../helpers/tmp.ts";

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("a file appears with the first message, with all that came before it", async () => {
  await using dir = tmp();
  const session = createSession({ root: dir.file("sessions"), cwd: "/work" });
  session.append({ type: "model_change", provider: "p", modelId: "m" });
  session.append({ type: "session_info", name: "n" });
  expect([session.stored(), readdirSync(dir.path)]).toEqual([false, []]);
  session.append({ type: "message", message: user("hi") });
  expect(session.stored()).toBe(true);
  expect(linesOf(session.path as string).map((line) => JSON.parse(line).type)).toEqual([
    "session",
    "model_change",
    "session_info",
    "message",
  ]);
  session.close();
});

test.each([0o000, 0o022, 0o077])("folders and files are their owner's alone under umask %o", async (umask) => {
  await using dir = tmp();
  const before = process.umask(umask);
  try {
    const { path } = writeSession(dir.file("a/sessions"), "/work", 1);
    for (const folder of [dir.file("a"), dir.file("a/sessions"), dirname(path)]) expect(mode(folder)).toBe("700");
    expect(mode(path)).toBe("600");
    chmodSync(path, 0o644);
    openSession(path).session.close();
    expect(mode(path)).toBe("600");
  } finally {
    process.umask(before);
  }
});

test.each([
  ["letters", "abcdefghi/"],
  ["characters of several bytes", "北京大学/"],
])("a directory whose path is too long for a folder's name has sessions too: %s", async (_name, step) => {
  await using dir = tmp();
  const cwd = `/${step.repeat(40)}`;
  const one = writeSession(dir.path, `${cwd}one`, 1);
  const two = writeSession(dir.path, `${cwd}two`, 1);
  expect(dirname(one.path)).not.toBe(dirname(two.path));
  expect(basename(dirname(one.path))).toMatch(/^--[0-9a-f]{16}-.*one--$/);
  expect(dirname(one.path)).not.toContain("\ufffd");
  expect(latestSession(dir.path, `${cwd}one`)?.id).toBe(one.id);
});

test("an id that was chosen twice at once is one session's", async () => {
  await using dir = tmp();
  const [one, two] = [1, 2].map(() => createSession({ root: dir.path, cwd: "/work", id: "nightly" }));
  one?.append({ type: "message", message: user("hi") });
  expect(() => two?.append({ type: "message", message: user("ho") })).toThrow(
    `There is a session with the id 'nightly' already: ${one?.path}`,
  );
  one?.close();
  expect(readdirSync(`${dir.path}/--work--`)).toEqual([basename(one?.path as string)]);
});

test("an entry is in the file when it is announced", async () => {
  await using dir = tmp();
  const session = createSession({ root: dir.path, cwd: "/work" });
  for (let i = 0; i < 50; i++) {
    const entry = session.append({ type: "message", message: user(`n ${i}`) });
    expect(JSON.parse(linesOf(session.path as string).at(-1) as string)).toEqual(entry);
  }
  session.close();
});

test("an entry that found no room leaves nothing behind, and what was announced is there", async () => {
  await using dir = tmp();
  const script = `
    import { createSession } from "${import.meta.dir}/../../src/session/store.ts";
    const session = createSession({ root: ${JSON.stringify(dir.path)}, cwd: "/work" });
    const announced = [];
    const say = (text) => announced.push(session.append({ type: "message", message: { role: "user", content: text, timestamp: 1 } }).id);
    say("first");
    let failures = 0;
    for (let i = 0; i < 8; i++) { try { say("x".repeat(1500)); } catch (error) { failures++; if (error.code !== "session") throw error; } }
    say("small");
    session.close();
    console.log(JSON.stringify({ path: session.path, announced, failures }));`;
  const shell = 'trap \'\' XFSZ; ulimit -f 8; exec "$0" -e "$1"';
  const run = Bun.spawnSync(["bash", "-c", shell, process.execPath, script], { stderr: "inherit" });
  const { path, announced, failures } = JSON.parse(run.stdout.toString());
  expect(failures).toBeGreaterThan(0);
  const { entries, badLines } = readSessionFile(path);
  expect(badLines).toBe(0);
  expect(entries.map(({ id }) => id)).toEqual(announced);
  expect(readFileSync(path).at(-1)).toBe(0x0a);
});

test("a session in memory touches no file", async () => {
  await using dir = tmp();
  const session = createMemorySession(dir.path);
  session.append({ type: "message", message: user("hi") });
  expect([session.path, session.stored(), readdirSync(dir.path)]).toEqual([undefined, false, []]);
  session.close();
  expect(() => session.append({ type: "message", message: user("hi") })).toThrow("closed");
});

test("going on from another entry leaves what was there", async () => {
  await using dir = tmp();
  const { path } = writeSession(dir.path, "/work", 2);
  const { session } = openSession(path);
  const [, question, answer] = session.entries();
  session.moveTo(answer?.id as string);
  const other = session.append({ type: "message", message: user("otherwise") });
  expect(other.parentId).toBe(answer?.id as string);
  expect(() => session.moveTo("nowhere")).toThrow("no entry 'nowhere'");
  session.moveTo(null);
  expect(session.append({ type: "message", message: user("anew") }).parentId).toBeNull();
  session.close();
  expect(readSessionFile(path).entries).toHaveLength(7);
  expect(question?.type).toBe("message");
  expect(existsSync(`${path}.lock`)).toBe(false);
});
