// Sessions of the compiled binary: what a run goes on in, what it tells, and what is on disk afterwards.
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Entry, SessionHeader } from "../../src/protocol/entry.ts";
import { gate, type ReplayServer, type Script, startReplayServer } from "../helpers/replay-server.ts";
import { type CliOptions, runCli, startCli } from "../helpers/run-cli.ts";
import { linesOf } from "../helpers/session-file.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

/** Answers the nth request with `answer n`. */
const answers: Script = (_request, position) => ({ turn: { text: `answer ${position + 1}` } });

/** A home, a directory to work in and a model, for several runs. */
async function createWorld(script: Script = answers) {
  const server = await startReplayServer(script);
  const dir = tmp();
  const [home, cwd] = [dir.file("home"), dir.file("work")];
  for (const folder of [home, cwd]) mkdirSync(folder);
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "k", PI_BASE_URL: server.url };
  const options = (extra: CliOptions = {}): CliOptions => ({ home, cwd, ...extra, env: { ...env, ...extra.env } });
  return {
    server,
    dir,
    cwd: realpathSync(cwd),
    run: (args: readonly string[], extra?: CliOptions) => runCli(args, options(extra)),
    start: (args: readonly string[], extra?: CliOptions) => startCli(args, options(extra)),
    files: () => filesBelow(join(home, ".pi-ts")).filter((path) => !path.endsWith("history")),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** What the nth request said, without the system prompt. */
function said(server: ReplayServer, position: number): string[] {
  const messages: { role: string; content: string }[] = server.requests[position]?.body.messages;
  return messages.filter(({ role }) => role !== "system").map(({ content }) => content);
}

const idIn = (stderr: string) => /^session (\S+) \(pi-ts --resume \1 goes on\)$/m.exec(stderr)?.[1] as string;

describe("a run", () => {
  test("tells its session, whose file is what the schemas say", async () => {
    await using world = await createWorld();
    const { stderr } = await world.run(["-p", "one"]);
    const [path] = world.files();
    expect(path).toEndWith(`_${idIn(stderr)}.jsonl`);
    const [header, ...entries] = linesOf(path as string).map((line) => JSON.parse(line));
    expect(SessionHeader.parse(header)).toMatchObject({ id: idIn(stderr), cwd: world.cwd, version: 3 });
    for (const entry of entries) Entry.parse(entry);
    expect(entries.map((entry) => entry.message?.role ?? entry.type)).toEqual([
      "model_change",
      "system",
      "user",
      "assistant",
    ]);
    expect(world.files()).toHaveLength(1);
  });

  test("says nothing of it with --quiet, and stores nothing with --no-session", async () => {
    await using world = await createWorld();
    expect((await world.run(["-p", "--quiet", "one"])).stderr).toBe("");
    expect(world.files()).toHaveLength(1);
    expect((await world.run(["-p", "--no-session", "two"])).stderr).toBe("");
    expect(world.files()).toHaveLength(1);
  });

  test("leaves nothing that others can read, whatever the umask", async () => {
    await using world = await createWorld();
    const before = process.umask(0);
    try {
      await world.run(["-p", "one"]);
    } finally {
      process.umask(before);
    }
    const [path] = world.files() as [string];
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (let folder = join(path, ".."); folder.includes(".pi-ts"); folder = join(folder, "..")) {
      expect(statSync(folder).mode & 0o777).toBe(0o700);
    }
  });
});

describe("going on", () => {
  test("--continue takes the latest session of this directory", async () => {
    await using world = await createWorld();
    mkdirSync(world.dir.file("other"));
    await world.run(["-p", "one"]);
    await world.run(["-p", "elsewhere"], { cwd: world.dir.file("other") });
    const result = await world.run(["-p", "-c", "two"]);
    expect([result.code, result.stdout]).toEqual([0, "answer 3\n"]);
    expect(said(world.server, 2)).toEqual(["one", "answer 1", "two"]);
    expect(world.files()).toHaveLength(2);
    expect(world.server.problems).toEqual([]);
  });

  test("--resume takes the beginning of an id, a name or a path; --session does too", async () => {
    await using world = await createWorld();
    await world.run(["-p", "--session-id", "abcdef", "--name", "the parser", "one"]);
    const [path] = world.files() as [string];
    const ways = [
      ["--resume", "abc"],
      ["-r", "the p"],
      [`--resume=${path}`],
      ["--session", "abcdef"],
      ["--session", path],
    ];
    for (const way of ways) {
      expect((await world.run(["-p", "more", ...way])).code).toBe(0);
    }
    expect(said(world.server, 5)).toHaveLength(11);
    expect(world.files()).toEqual([path]);
  });

  test("with what a run says at its end, wherever its session is", async () => {
    await using world = await createWorld();
    const folder = world.dir.file("an other's");
    await world.run(["-p", "--session-id", "aaa", "one"]);
    const [path] = world.files() as [string];
    mkdirSync(world.dir.file("copies"));
    writeFileSync(world.dir.file("copies/x_aaa.jsonl"), readFileSync(path));
    const elsewhere = await world.run(["-p", "--session-dir", folder, "two"]);
    const copied = await world.run(["-p", "--resume", world.dir.file("copies/x_aaa.jsonl"), "three"]);
    const ways = [elsewhere, copied].map(({ stderr }) => /\(pi-ts (--resume .*) goes on\)/.exec(stderr)?.[1]);
    for (const way of ways) {
      // A shell takes the path apart, as it does for those who copy the line.
      const words = Bun.spawnSync(["sh", "-c", `printf '%s\n' ${way}`])
        .stdout.toString()
        .trimEnd()
        .split("\n");
      expect((await world.run(["-p", "more", ...words])).code).toBe(0);
    }
    expect(said(world.server, 3)).toEqual(["two", "answer 2", "more"]);
    expect(said(world.server, 4)).toEqual(["one", "answer 1", "three", "answer 3", "more"]);
  });

  test("what cannot be resumed is an error, and no new session", async () => {
    await using world = await createWorld();
    const fails = async (args: string[], message: string) => {
      const { code, stderr, stdout } = await world.run(["-p", "x", ...args]);
      expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
    };
    await fails(["--continue"], `There is no session of ${world.cwd} to continue`);
    await fails(["--resume", "nope"], "No session has the id or name 'nope'");
    await fails(["--session", "no/where.jsonl"], "no/where.jsonl");
    await fails(["--fork", "nope"], "No session has the id or name 'nope'");
    await fails(["--fork"], "--fork needs a session");
    await fails(["--resume"], "--resume without a value needs a terminal");
    await fails(["--session-id", "../../x"], "cannot be a session's id");
    await fails(["--continue", "--resume=x"], "exclude each other");
    await fails(["--continue", "--no-session"], "exclude each other");
    writeFileSync(join(world.cwd, "notes.jsonl"), "no session\n");
    await fails(["--resume", "./notes.jsonl"], "is not a session file");
    expect([world.files(), world.server.requests]).toEqual([[], []]);
    await world.run(["-p", "--session-id", "aa1", "one"]);
    await world.run(["-p", "--session-id", "aa2", "two"]);
    await fails(
      ["--resume", "aa"],
      "'aa' could be any of 2 sessions\n  aa2  two\n  aa1  one\n".split("\n")[0] as string,
    );
    await fails(["--fork", "aa2", "--session-id", "aa1"], "There is a session with the id 'aa1' already");
    expect(world.files()).toHaveLength(2);
  });

  test("in the session's own folder, or in this one where that is gone, with a note", async () => {
    await using world = await createWorld();
    const other = world.dir.file("other");
    mkdirSync(other);
    await world.run(["-p", "--session-id", "abc", "one"], { cwd: other });
    const moved = await world.run(["-p", "--resume", "abc", "two"]);
    expect(moved.stderr).toContain(`Going on in ${other}, where the session began`);
    expect(world.server.requests[1]?.text).toContain(`Working directory: ${other}`);
    rmdirSync(other);
    const gone = await world.run(["-p", "--resume", "abc", "three"]);
    expect(gone.stderr).toContain(`The session's folder ${other} is gone; going on in ${world.cwd}`);
    expect([gone.code, gone.stdout]).toEqual([0, "answer 3\n"]);
    expect(world.server.requests[2]?.text).toContain(`Working directory: ${world.cwd}`);
  });

  test("with the session's model and thinking level, unless flags or a lost provider say otherwise", async () => {
    await using world = await createWorld();
    const modelOf = (position: number) => world.server.requests[position]?.body.model;
    const changes = () =>
      linesOf(world.files()[0] as string)
        .map((line) => JSON.parse(line))
        .filter(({ type }) => /_change$/.test(type))
        .map(({ modelId, thinkingLevel }) => modelId ?? thinkingLevel);
    await world.run(["-p", "-m", "gpt-special", "--thinking", "high", "one"]);
    await world.run(["-p", "-c", "two"], { env: { PI_MODEL: "gpt-other" } });
    expect([modelOf(0), modelOf(1)]).toEqual(["gpt-special", "gpt-special"]);
    expect(changes()).toEqual(["gpt-special", "high"]);
    await world.run(["-p", "-c", "-m", "gpt-third", "--thinking", "low", "three"]);
    expect(modelOf(2)).toBe("gpt-third");
    expect(changes()).toEqual(["gpt-special", "high", "gpt-third", "low"]);
    const [path] = world.files() as [string];
    writeFileSync(path, readFileSync(path, "utf8").replaceAll('"provider":"openai"', '"provider":"lost"'));
    const lost = await world.run(["-p", "-c", "four"], { env: { PI_MODEL: "gpt-mine" } });
    expect([lost.code, modelOf(3)]).toEqual([0, "gpt-mine"]);
    expect(lost.stderr).toContain("The session's provider lost is not known here");
  });

  test("after damage, with one warning that counts it", async () => {
    await using world = await createWorld();
    await world.run(["-p", "one"]);
    const [path] = world.files() as [string];
    writeFileSync(path, `${readFileSync(path, "utf8")}{not json}\n${"\0".repeat(300)}\n{"type":"message","mess`);
    for (const args of [
      ["sessions", "show", path],
      ["-p", "-c", "two"],
    ]) {
      const { stderr } = await world.run(args);
      expect(stderr.match(/warning: .*/g)).toEqual([
        "warning: 3 lines of the session could not be read and are left out",
      ]);
    }
    await world.run(["-p", "-c", "three"]);
    expect(said(world.server, 2)).toEqual(["one", "answer 1", "two", "answer 2", "three"]);
  });

  test("in a copy with --fork: the original stays as it is", async () => {
    await using world = await createWorld();
    await world.run(["-p", "--session-id", "original", "one"]);
    const [path] = world.files() as [string];
    const before = readFileSync(path, "utf8");
    const forked = await world.run(["-p", "-c", "--fork", "two words"]);
    await world.run(["-p", "--fork", "original", "--session-id", "copy", "three"]);
    expect([said(world.server, 1), said(world.server, 2)]).toEqual([
      ["one", "answer 1", "two words"],
      ["one", "answer 1", "three"],
    ]);
    expect(readFileSync(path, "utf8")).toBe(before);
    const copy = world.files().find((file) => file.endsWith("_copy.jsonl")) as string;
    expect(JSON.parse(linesOf(copy)[0] as string)).toMatchObject({ id: "copy", parentSession: path, cwd: world.cwd });
    expect(linesOf(copy).slice(1, 5)).toEqual(before.split("\n").slice(1, 5));
    expect(idIn(forked.stderr)).not.toBe("original");
  });
});

describe("two processes on one session", () => {
  test("the second is told who has it; a copy is the way out; the end of the first frees it", async () => {
    const hold = gate();
    await using world = await createWorld((request, position) =>
      position === 0 ? { body: [hold.opened] } : answers instanceof Function ? answers(request, position) : "refuse",
    );
    await using first = world.start(["-p", "--session-id", "abc", "one"]);
    await world.server.request(0);
    const lock = world.files().find((path) => path.endsWith(".lock")) as string;
    expect(statSync(lock).mode & 0o777).toBe(0o600);
    const second = await world.run(["-p", "-c", "two"]);
    expect([second.code, second.stdout]).toEqual([2, ""]);
    expect(second.stderr).toContain(`is in use by process ${first.pid}`);
    expect(second.stderr).toContain("--fork");
    const removal = await world.run(["sessions", "rm", "abc"]);
    expect([removal.code, removal.stderr]).toEqual([2, expect.stringContaining(`process ${first.pid}`)]);
    expect((await world.run(["-p", "-c", "--fork", "three"])).code).toBe(0);
    expect(said(world.server, 1)).toEqual(["one", "three"]);
    first.kill("SIGTERM");
    expect((await first.exited).code).toBe(143);
    expect(existsSync(lock)).toBe(false);
    hold.open();
  });

  test("a lock that a killed process left is taken over", async () => {
    const hold = gate();
    await using world = await createWorld((_request, position) =>
      position === 0 ? { body: [hold.opened] } : { turn: { text: "ok" } },
    );
    await using first = world.start(["-p", "one"]);
    await world.server.request(0);
    first.kill("SIGKILL");
    await first.exited;
    expect(world.files().some((path) => path.endsWith(".lock"))).toBe(true);
    const second = await world.run(["-p", "-c", "two"]);
    expect([second.code, second.stdout]).toEqual([0, "ok\n"]);
    expect(said(world.server, 1)).toEqual(["one", "two"]);
    expect(world.files()).toHaveLength(1);
    hold.open();
  });

  test("no way out leaves a lock: an answer, a failure, a missing key, wrong usage", async () => {
    await using world = await createWorld((_request, position) =>
      position === 1 ? { status: 400, body: "{}" } : { turn: { text: "ok" } },
    );
    const locks = () => world.files().filter((path) => path.endsWith(".lock"));
    const ends = [
      ["-p", "one"],
      ["-p", "-c", "two"],
      ["-p", "-c", "--sandbox-net", "--max-turns", "x", "three"],
    ];
    for (const args of ends) {
      await world.run(args);
      expect(locks()).toEqual([]);
    }
    await world.run(["-p", "-c", "four"], { env: { OPENAI_API_KEY: undefined } });
    expect(locks()).toEqual([]);
  });
});

describe("pi-ts sessions", () => {
  test("lists, shows, exports and removes, for people and for programs", async () => {
    await using world = await createWorld();
    expect(await world.run(["--sessions"])).toMatchObject({ stdout: "", stderr: "No sessions are stored.\n", code: 0 });
    mkdirSync(world.dir.file("other"));
    await world.run(["-p", "--session-id", "aaa", "-n", "first name", "one"]);
    await world.run(["-p", "--session-id", "bbb", "two\nlines \x1b[31m"], { cwd: world.dir.file("other") });
    const { stdout } = await world.run(["sessions", "list"]);
    expect((await world.run(["--sessions"])).stdout).toBe(stdout);
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/^bbb {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}two lines ␛\[31m {2}\[.*other\]$/),
      expect.stringMatching(/^aaa {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}first name$/),
      "",
    ]);
    const here = await world.run(["sessions", "list", "--here", "--json"]);
    expect(
      here.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { id: "aaa", name: "first name", firstText: "one", cwd: world.cwd, path: expect.stringContaining("_aaa.jsonl") },
    ]);
    expect((await world.run(["sessions", "show", "first"])).stdout).toContain("\n> one\n\nanswer 1\n");
    const shown = JSON.parse((await world.run(["sessions", "show", "aaa", "--json"])).stdout);
    expect(shown.messages.map(({ role }: { role: string }) => role)).toEqual(["system", "user", "assistant"]);
    const page = await world.run(["sessions", "export", "aaa", "page.html"]);
    expect([page.code, existsSync(join(world.cwd, "page.html"))]).toEqual([0, true]);
    expect((await world.run(["sessions", "rm", "aa", "bbb", "--json"])).stdout.split("\n")).toHaveLength(3);
    expect(world.files()).toEqual([]);
  });

  test("rm removes sessions only, whatever a path names", async () => {
    await using world = await createWorld();
    const files = {
      "README.md": "# Notes\n",
      "events_log.jsonl": '{"timestamp":"2026-11-30T08:15:00Z","level":"info","id":"1","parentId":null}\n',
      "empty_1.jsonl": "",
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(world.cwd, name), text);
    for (const name of Object.keys(files)) {
      const { code, stdout, stderr } = await world.run(["sessions", "rm", `./${name}`]);
      expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(`${name} is not a session file`)]);
    }
    expect(readdirSync(world.cwd).sort()).toEqual(Object.keys(files).sort());
  });

  test.each([
    [["sessions", "shwo", "x"], "Did you mean show?"],
    [["sessions", "show"], "needs a session"],
    [["sessions", "rm"], "needs a session"],
    [["sessions", "rm", "nope"], "No session has the id or name 'nope'"],
    [["sessions", "show", "a", "b"], "takes one session"],
  ])("%j is an error", async (args, message) => {
    const { code, stdout, stderr } = await runCli(args);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
  });

  test("--session-dir and PI_TS_SESSION_DIR say where", async () => {
    await using world = await createWorld();
    const folder = world.dir.file("elsewhere");
    await world.run(["-p", "--session-dir", folder, "one"]);
    await world.run(["-p", "-c", "two"], { env: { PI_TS_SESSION_DIR: folder } });
    expect(said(world.server, 1)).toEqual(["one", "answer 1", "two"]);
    expect((await world.run(["sessions", "--session-dir", folder])).stdout).toContain("one");
    expect(world.files()).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});

test("a session that was cut short in a tool goes on with a whole history", async () => {
  await using world = await createWorld((_request, position) =>
    position === 0
      ? { turn: { calls: [{ id: "c1", name: "bash", arguments: { command: "touch started; sleep 60" } }] } }
      : { turn: { text: "ok" } },
  );
  await using first = world.start(["-p", "--yolo", "one"]);
  await waitUntil(() => existsSync(join(world.cwd, "started")), "the tool runs");
  first.kill("SIGKILL");
  await first.exited;
  expect((await world.run(["-p", "-c", "two"])).code).toBe(0);
  expect(said(world.server, 1)).toEqual([
    "one",
    null as unknown as string,
    expect.stringContaining("interrupted"),
    "two",
  ]);
  expect(world.server.problems).toEqual([]);
});
