// One process a session: who holds it is named, and who is gone holds nothing.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { removalLock, takeLock } from "../../src/session/lock.ts";
import { createSession, openSession } from "../../src/session/store.ts";
import { user } from "../helpers/messages.ts";
import { tmp } from "../helpers/tmp.ts";
import { watchText } from "../helpers/wait-for.ts";

/** A pid that nobody has. */
function deadPid(): number {
  return Bun.spawnSync(["true"]).pid;
}

test("a session that is open is in use, by a process that is named", async () => {
  await using dir = tmp();
  const session = createSession({ root: dir.path, cwd: "/work" });
  session.append({ type: "message", message: user("hi") });
  const path = session.path as string;
  expect(() => openSession(path)).toThrow(`is in use by process ${process.pid}`);
  expect((statSync(`${path}.lock`).mode & 0o777).toString(8)).toBe("600");
  session.close();
  expect(existsSync(`${path}.lock`)).toBe(false);
  openSession(path).session.close();
});

test.each([
  ["of a process that has ended", () => ({ pid: deadPid(), started: "1" })],
  ["whose pid another process has now", () => ({ pid: process.pid, started: "1" })],
  ["that is empty", () => ""],
  ["that names nobody", () => ({ pid: -1 })],
  ["that names what is no process", () => ({ pid: 1e20, started: "1" })],
])("a lock %s is taken over", async (_name, content) => {
  await using dir = tmp();
  writeFileSync(dir.file("s.lock"), content() === "" ? "" : JSON.stringify(content()));
  const release = takeLock(dir.file("s"));
  expect(JSON.parse(readFileSync(dir.file("s.lock"), "utf8")).pid).toBe(process.pid);
  release();
  expect(readdirSync(dir.path)).toEqual([]);
});

test.each([
  ["a folder", (path: string) => mkdirSync(path)],
  ["a FIFO", (path: string) => void Bun.spawnSync(["mkfifo", path])],
  ["what cannot be read", (path: string) => symlinkSync(path, path)],
])("%s in the lock's place is an error that says what to do, and stays", async (_name, make) => {
  await using dir = tmp();
  make(dir.file("s.lock"));
  // In a process of its own, since waiting for a FIFO would be waiting for ever.
  const script = `${import.meta.dir}/../helpers/take-lock.ts`;
  const { stdout } = Bun.spawnSync([process.execPath, script, dir.file("s")], {
    stdin: Buffer.from("go\n"),
    timeout: 4000,
  });
  const hint = `Remove ${dir.file("s.lock")} if nothing uses it.`;
  expect(`${stdout}`).toBe(
    `ready\ntaken ${JSON.stringify([`AppError: Could not lock the session ${dir.file("s")}. ${hint}`])}\n`,
  );
  expect(readdirSync(dir.path)).toEqual(["s.lock"]);
});

test("where no lock can be made, nothing is left, and a new session and one to go on in say what helps each", async () => {
  await using dir = tmp();
  const session = createSession({ root: dir.path, cwd: "/work" });
  session.append({ type: "message", message: user("hi") });
  session.close();
  const script = `
    import { createSession, openSession } from "${import.meta.dir}/../../src/session/store.ts";
    const hintOf = (work) => { try { work(); } catch ({ code, hint }) { return [code, hint]; } };
    const message = { role: "user", content: "hi", timestamp: 1 };
    const hints = [
      hintOf(() => createSession({ root: ${JSON.stringify(dir.path)}, cwd: "/work" }).append({ type: "message", message })),
      hintOf(() => openSession(${JSON.stringify(session.path)})),
    ];
    console.log(JSON.stringify(hints));`;
  const shell = 'trap \'\' XFSZ; ulimit -f 0; exec "$0" -e "$1"';
  const run = Bun.spawnSync(["bash", "-c", shell, process.execPath, script], { stderr: "inherit" });
  expect(JSON.parse(run.stdout.toString())).toEqual([
    ["session", "--session-dir FOLDER stores it elsewhere, --no-session not at all."],
    ["session", "--fork goes on in a copy; --session-dir FOLDER says where that and new sessions are."],
  ]);
  expect(readdirSync(dirname(session.path as string))).toEqual([basename(session.path as string)]);
});

test("process 1, as the program may be in a container, holds its lock", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("s.lock"), JSON.stringify({ pid: 1, started: "" }));
  expect(() => takeLock(dir.file("s"))).toThrow("is in use by process 1");
});

test("a takeover that was never finished keeps nobody out", async () => {
  await using dir = tmp();
  const gone = { pid: deadPid(), started: "1" };
  const lockPath = dir.file("s.lock");
  for (const path of [lockPath, removalLock(lockPath, gone)]) writeFileSync(path, JSON.stringify(gone));
  takeLock(dir.file("s"))();
  expect(readdirSync(dir.path)).toEqual([]);
});

test("of several processes that find dead ones' locks at once, one gets each", async () => {
  await using dir = tmp();
  const paths = Array.from({ length: 100 }, (_, i) => dir.file(`s${i}`));
  const gone = JSON.stringify({ pid: deadPid(), started: "1" });
  for (const path of paths) writeFileSync(`${path}.lock`, gone);
  const racers = Array.from({ length: 4 }, () => {
    const script = `${import.meta.dir}/../helpers/take-lock.ts`;
    const child = Bun.spawn([process.execPath, script, ...paths], { stdio: ["pipe", "pipe", "inherit"] });
    let output = "";
    const watch = watchText("a racer's output", () => output);
    (async () => {
      for await (const bytes of child.stdout) {
        output += new TextDecoder().decode(bytes);
        watch.changed();
      }
    })();
    return { child, output: () => output, until: watch.until };
  });
  await Promise.all(racers.map(({ until }) => until("ready")));
  for (const { child } of racers) {
    child.stdin.write("go\n");
    child.stdin.flush();
  }
  await Promise.all(racers.map(({ until }) => until(/taken .*\n/)));
  const taken = racers.flatMap(({ output }) => JSON.parse(/taken (.*)/.exec(output())?.[1] ?? "[]"));
  expect(taken.sort()).toEqual(paths.toSorted());
  for (const { child } of racers) child.stdin.end();
  await Promise.all(racers.map(({ child }) => child.exited));
  expect(readdirSync(dir.path)).toEqual([]);
});

test("without hard links, a lock that another process has taken over meanwhile is the other's", async () => {
  await using dir = tmp();
  const other = Bun.spawn(["sleep", "60"]);
  try {
    const script = `${import.meta.dir}/../helpers/lose-lock.ts`;
    const { stdout } = Bun.spawnSync([process.execPath, script, dir.file("s"), `${other.pid}`]);
    expect(`${stdout}`).toBe(`The session ${dir.file("s")} is in use by process ${other.pid}\n`);
    expect(readdirSync(dir.path)).toEqual(["s.lock"]);
  } finally {
    other.kill();
    await other.exited;
  }
});
