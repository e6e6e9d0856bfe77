// Whatever the umask is, what pi-ts writes about a user's work is that user's alone.
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadHistory } from "../../src/modes/repl/history.ts";
import { makePrivateFolder, writePrivateFile } from "../../src/util/private-file.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, cleanEnv } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

function withUmask<Value>(umask: number, run: () => Value): Value {
  const before = process.umask(umask);
  try {
    return run();
  } finally {
    process.umask(before);
  }
}

test.each([0o000, 0o022, 0o077])("the history and its folder under umask %o", async (umask) => {
  await using dir = tmp();
  withUmask(umask, () => loadHistory(dir.file("a/home")).add("secret"));
  expect(mode(dir.file("a/home"))).toBe("700");
  expect(mode(dir.file("a/home/history"))).toBe("600");
});

test("a history that others could read becomes private with the next entry, and stays so when it is shortened", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("history"), '"one"\n'.repeat(3000));
  chmodSync(dir.file("history"), 0o644);
  withUmask(0, () => loadHistory(dir.path));
  expect(mode(dir.file("history"))).toBe("600");
  chmodSync(dir.file("history"), 0o644);
  withUmask(0, () => loadHistory(dir.path).add("two"));
  expect(mode(dir.file("history"))).toBe("600");
  expect(readdirSync(dir.path)).toEqual(["history"]);
});

test.each([0o000, 0o022, 0o777])("a private file under umask %o, new and rewritten", async (umask) => {
  await using dir = tmp();
  const path = dir.file("home/file");
  withUmask(umask & 0o077, () => makePrivateFolder(dir.file("home")));
  withUmask(umask, () => writePrivateFile(path, "one"));
  expect(mode(path)).toBe("600");
  chmodSync(path, 0o666);
  withUmask(umask, () => writePrivateFile(path, "two"));
  expect(mode(path)).toBe("600");
  expect(await Bun.file(path).text()).toBe("two");
});

test("a private file is never staged in a file that somebody else has prepared", async () => {
  await using dir = tmp();
  const names = new Set<string>();
  const pieces = function* () {
    for (const name of readdirSync(dir.path)) names.add(name);
    yield "text";
  };
  for (let i = 0; i < 2; i++) writePrivateFile(dir.file("file"), pieces());
  names.delete("file");
  expect(names.size).toBe(2);
  expect(readdirSync(dir.path)).toEqual(["file"]);
});

test("a folder that the user made keeps its mode", async () => {
  await using dir = tmp();
  mkdirSync(dir.file("home"));
  chmodSync(dir.file("home"), 0o755);
  makePrivateFolder(dir.file("home"));
  expect(mode(dir.file("home"))).toBe("755");
});

test("a run with umask 0 leaves nothing that others can read", async () => {
  await using dir = tmp();
  mkdirSync(dir.file("home"));
  const turn = { turn: { calls: [{ id: "c", name: "bash", arguments: { command: "seq 100000" } }] } };
  let output: string[] = [];
  await using server = await startReplayServer(({ body }, position) => {
    if (position === 0) return turn;
    // It goes away with the run, so it is looked at while that waits.
    const path = /the whole output: ([^>]+)>/.exec(body.messages.at(-1).content)?.[1] ?? "";
    output = [mode(path), mode(dirname(path))];
    return { turn: { text: "ok" } };
  });
  const env = cleanEnv(dir.file("home"), { PI_PROVIDER: "openai", OPENAI_API_KEY: "k", PI_BASE_URL: server.url });
  const record = dir.file("run.jsonl");
  const child = Bun.spawn(
    ["sh", "-c", 'umask 0; exec "$@"', "sh", binaryPath(), "-p", "--yolo", "--record", record, "go"],
    {
      cwd: dir.path,
      env,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    },
  );
  expect(await child.exited).toBe(0);
  expect(mode(record)).toBe("600");
  expect(output).toEqual(["600", "700"]);
  for (const entry of readdirSync(dir.file("home"), { recursive: true, withFileTypes: true })) {
    expect([entry.name, mode(join(entry.parentPath, entry.name))]).toEqual([
      entry.name,
      entry.isDirectory() ? "700" : "600",
    ]);
  }
});
