// Commands run by the compiled binary: what the model is told of them, and that nothing they started is left behind.
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, type CliOptions, runCli } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

interface BashCall {
  readonly command: string;
  readonly timeout_ms?: number;
}

const key = "sk-test-0123456789abcdef";
const at = (url: string) => ({ PI_PROVIDER: "openai", OPENAI_API_KEY: key, PI_BASE_URL: url });
const heldNote = "[a background process still holds the output; what it prints from now on is not shown]";

/** Lets the model run these commands one after the other; gives the run's result and what the model was told of each. */
async function runCommands(calls: readonly BashCall[], options: CliOptions & { flags?: readonly string[] } = {}) {
  await using server = await startReplayServer([
    ...calls.map((call, i) => ({ turn: { calls: [{ id: `c${i}`, name: "bash", arguments: { ...call } }] } })),
    { turn: { text: "ok" } },
  ]);
  const env = { ...at(server.url), ...options.env };
  const result = await runCli(["-p", "--yolo", ...(options.flags ?? []), "go"], { ...options, env });
  expect(server.problems).toEqual([]);
  const told = server.requests.slice(1).map(({ body }) => body.messages.at(-1).content as string);
  return { ...result, told };
}

/** Whether the process whose number stands in `file` runs. */
function runs(dir: TmpDir, file = "pid"): boolean {
  try {
    const stat = readFileSync(`/proc/${readFileSync(dir.file(file), "utf8").trim()}/stat`, "latin1");
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}

const gone = (dir: TmpDir, file?: string) => waitUntil(() => !runs(dir, file), "the process is gone");

describe.skipIf(process.platform !== "linux")("a process left in the background", () => {
  test.each([
    ["silent", "sleep 600 & echo $! > pid; echo done", "done"],
    ["talking", "(while :; do sleep 0.5; echo x; done) & echo $! > pid; echo done", "done"],
    ["a server", "python3 -m http.server --bind 127.0.0.1 0 > /dev/null 2>&1 3>&1 & echo $! > pid; echo up", "up"],
    ["in a session of its own", "setsid sleep 600 & echo $! > pid; echo ok", "ok"],
    ["a daemon", "(setsid bash -c 'echo $$ > pid; sleep 600' &); until [ -s pid ]; do sleep 0.01; done; echo ok", "ok"],
    ["without our environment", "env -i setsid sleep 600 & echo $! > pid; echo ok", "ok"],
  ])("does not hold up the run, and ends with it: %s", async (_, command, output) => {
    await using dir = tmp();
    const { told, code } = await runCommands([{ command }], { cwd: dir.path, timeout: 8000 });
    expect(told).toEqual([
      told[0]?.includes(heldNote) ? `${output}\n${heldNote}\n[exit code 0]` : `${output}\n[exit code 0]`,
    ]);
    expect(code).toBe(0);
    expect(existsSync(dir.file("pid"))).toBe(true);
    await gone(dir);
  });

  test("is still there for the next command", async () => {
    await using dir = tmp();
    const calls = [
      { command: "setsid sleep 600 > /dev/null 2>&1 & echo $! > pid" },
      { command: "kill -0 $(cat pid) && echo alive" },
    ];
    expect((await runCommands(calls, { cwd: dir.path })).told[1]).toBe("alive\n[exit code 0]");
    await gone(dir);
  });
});

describe.skipIf(process.platform !== "linux")("a signal", () => {
  const cases = (["SIGTERM", "SIGINT", "SIGHUP"] as const).flatMap((signal) => [
    { signal, what: "a pipeline", command: "echo $$ > pid; sleep 300 | cat" },
    {
      signal,
      what: "one that ignores the request to end",
      command: "trap '' TERM; echo $$ > pid; while :; do :; done",
    },
    {
      signal,
      what: "a daemon",
      command: "(setsid bash -c 'echo $$ > pid; trap \"\" TERM HUP; sleep 300' &); sleep 300",
    },
  ]);
  test.each(cases)("$signal ends $what", async ({ signal, command }) => {
    await using dir = tmp();
    const when = waitUntil(() => runs(dir), "the command runs");
    const { code } = await runCommands([{ command }], { cwd: dir.path, signalWhen: { when, signal } });
    expect(code).toBe({ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal]);
    await gone(dir);
  });

  test("leaves alone what a shell had started before pi-ts took its place", async () => {
    await using dir = tmp();
    await using server = await startReplayServer([
      { turn: { calls: [{ name: "bash", arguments: { command: "setsid sleep 600 & echo $! > pid" } }] } },
      { turn: { text: "ok" } },
    ]);
    const script = `sleep 600 > /dev/null 2>&1 & echo $! > other; exec "${binaryPath()}" -p --yolo go`;
    const env = { PATH: process.env.PATH, HOME: dir.path, ...at(server.url) };
    const shell = Bun.spawn(["bash", "-c", script], { cwd: dir.path, env, stdio: ["ignore", "pipe", "ignore"] });
    expect([await shell.stdout.text(), await shell.exited]).toEqual(["ok\n", 0]);
    await gone(dir);
    expect(runs(dir, "other")).toBe(true);
    process.kill(Number(readFileSync(dir.file("other"), "utf8")), "SIGKILL");
  });
});

describe.skipIf(process.platform !== "linux")("the time limit", () => {
  test.each([
    ["a pipeline", "echo $$ > pid; sleep 300 | cat"],
    ["a child that ignores the request to end", "bash -c 'echo $$ > pid; trap \"\" TERM; sleep 300'"],
    ["a busy loop", "echo $$ > pid; python3 -c 'while True: pass'"],
  ])("ends %s with all its processes, and keeps the output so far", async (_, command) => {
    await using dir = tmp();
    const calls = [
      { command: `echo so far; ${command}`, timeout_ms: 600 },
      { command: "kill -0 $(cat pid) || echo gone" },
    ];
    const { told, stderr } = await runCommands(calls, { cwd: dir.path, timeout: 10_000 });
    expect(told[0]).toBe("Error: timed out after 600 ms; the process group was killed\nso far\n");
    expect(told[1]).toEndWith("gone\n[exit code 0]");
    expect(stderr).toContain("  ✗ Error: timed out after 600 ms");
  });
});

describe.skipIf(process.platform !== "linux")("huge output", () => {
  test("leaves memory bounded and the timer running", async () => {
    const { told } = await runCommands([
      { command: "yes", timeout_ms: 1000 },
      { command: "cat /dev/zero", timeout_ms: 500 },
      { command: "head -c 200000000 /dev/zero | tr '\\0' x" },
      { command: "cat /dev/urandom", timeout_ms: 500 },
      { command: "grep VmHWM /proc/$PPID/status" },
    ]);
    expect(told[0]).toStartWith("Error: timed out after 1000 ms; the process group was killed\ny\ny\n");
    expect(told[1]).toBe("Error: timed out after 500 ms; the process group was killed\n");
    expect(told[2]).toMatch(
      /^x{49000,}\n\.\.\. <truncated, 199\d+ more chars; the first 50 MB of the output: .+> \.\.\.\nx{49000,}\n\[exit code 0\]$/,
    );
    // The cap is for the output; the words about what was cut come on top.
    for (const text of told) expect(text.length).toBeLessThanOrEqual(100_500);
    expect(Number(/(\d+) kB/.exec(told[4] ?? "")?.[1])).toBeLessThan(120 * 1024);
  });

  test("can be read in its file during the run, which is private and gone after it", async () => {
    await using dir = tmp();
    const { told, code } = await runCommands(
      [{ command: "seq 1 30000" }, { command: "cd pi-ts-output-* && stat -c '%a' . 1.txt && sed -n 15000p 1.txt" }],
      { cwd: dir.path, env: { TMPDIR: dir.path } },
    );
    expect(told[0]).toContain(`more chars; the whole output: ${dir.path}/pi-ts-output-`);
    expect([told[1], code]).toEqual(["700\n600\n15000\n[exit code 0]", 0]);
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test("may be read from its file without asking, unlike anything else outside the working directory", async () => {
    const read = (path: string, offset: number) => ({
      turn: { calls: [{ name: "read", arguments: { path, offset } }] },
    });
    let path = "";
    await using server = await startReplayServer(({ body }, position) => {
      const told = `${body.messages.at(-1).content}`;
      if (position === 0) return { turn: { calls: [{ name: "bash", arguments: { command: "seq 1 30000" } }] } };
      if (position === 1) path = /the whole output: (\S+)>/.exec(told)?.[1] ?? "";
      return position < 3 ? read([path, `${path}/../../passwd`][position - 1] ?? "", 15_000) : { turn: { text: "ok" } };
    });
    await runCli(["-p", "--allow", "bash(seq 1 30000)", "go"], { env: at(server.url) });
    const [, inside, outside] = server.requests.slice(1).map(({ body }) => body.messages.at(-1).content as string);
    expect(inside).toContain("15000\t15000\n");
    expect(outside).toStartWith("Error: denied: read was not approved (outside the working directory");
  });

  test("comes without a file where none can be written", async () => {
    const { told } = await runCommands([{ command: "seq 1 30000" }], { env: { TMPDIR: "/nowhere" } });
    expect(told[0]).toMatch(/\n\.\.\. <truncated, \d+ more chars> \.\.\.\n/);
  });
});

test.each([
  ["NUL", "printf 'a\\000b'", "ab\n[exit code 0]"],
  ["a lone surrogate", "printf '\\xed\\xa0\\x80'", "\ufffd\ufffd\ufffd\n[exit code 0]"],
  ["bytes that are not UTF-8", "printf '\\xff\\xfe'", "\ufffd\ufffd\n[exit code 0]"],
  ["a program", "head -c 1000 /bin/ls", /\[exit code 0\]$/],
])("output with %s makes a request that a provider accepts", async (_, command, expected) => {
  const { told, code } = await runCommands([{ command }]);
  expect(told[0]).toMatch(typeof expected === "string" ? new RegExp(`^${RegExp.escape(expected)}$`) : expected);
  expect(told[0]?.isWellFormed()).toBe(true);
  expect(told[0]).not.toMatch(/[\0-\x08\x0b-\x1f]/);
  expect(code).toBe(0);
});

test("a failed command has its exit code on stderr", async () => {
  const { stderr } = await runCommands([{ command: "echo no; exit 3" }, { command: "kill -9 $$" }]);
  expect(stderr).toContain("→ bash echo no; exit 3\n  ✗ exit code 3\n");
  expect(stderr).toContain("→ bash kill -9 $$\n  ✗ exit code 137 (SIGKILL)\n");
});

describe("the environment of commands", () => {
  const secrets = { GEMINI_API_KEY: "g-0123456789", CORP_KEY: "c-0123456789", GATEWAY: "t-0123456789", COPY: key };
  const table = `
[providers.corp]
base_url = "http://localhost:1/v1"
api_key_env = "CORP_KEY"
headers = { "X-Token" = "$GATEWAY_TOKEN" }
`;

  /** A home whose configuration is `toml`. */
  function home(dir: TmpDir, toml: string): string {
    mkdirSync(dir.file("home/.pi-ts"), { recursive: true });
    writeFileSync(dir.file("home/.pi-ts/config.toml"), toml);
    chmodSync(dir.file("home/.pi-ts/config.toml"), 0o600);
    return dir.file("home");
  }

  test("holds no provider key, of whatever provider and under whatever name", async () => {
    await using dir = tmp();
    const env = { ...secrets, GATEWAY_TOKEN: "t-0123456789", GITHUB_TOKEN: "stays" };
    const calls = [
      { command: "env" },
      { command: "printenv OPENAI_API_KEY GEMINI_API_KEY CORP_KEY GATEWAY_TOKEN COPY" },
    ];
    const { told } = await runCommands(calls, { home: home(dir, table), env });
    for (const name of ["OPENAI_API_KEY", "GEMINI_API_KEY", "CORP_KEY", "GATEWAY_TOKEN", "COPY"]) {
      expect(told[0]).not.toMatch(new RegExp(`^${name}=`, "m"));
    }
    expect(told[0]).not.toContain(key);
    expect(told[0]).toMatch(/^GITHUB_TOKEN=stays$/m);
    expect(told[1]).toBe("[exit code 1]");
  });

  test("holds the keys that the configuration passes by name, and no other", async () => {
    await using dir = tmp();
    const options = { home: home(dir, `env_pass = ["GEMINI_API_KEY", "CORP_KEY"]\n${table}`) };
    const env = { ...secrets, GATEWAY_TOKEN: "t-0123456789" };
    const calls = [{ command: "printenv GEMINI_API_KEY CORP_KEY; printenv OPENAI_API_KEY" }];
    const { told } = await runCommands(calls, { ...options, env });
    expect(told[0]).toBe("g-0123456789\nc-0123456789\n[exit code 1]");
  });

  test("holds none in a recorded run and in its replay either", async () => {
    await using dir = tmp();
    const command = "printenv OPENAI_API_KEY; echo $?";
    const recording = dir.file("run.jsonl");
    const options = { cwd: dir.path, flags: ["--record", recording] };
    expect((await runCommands([{ command }], options)).told).toEqual(["1\n[exit code 0]"]);
    const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: key };
    const replayed = await runCli(["-p", "--yolo", "--replay", recording, "go"], { cwd: dir.path, env });
    expect([replayed.stdout, replayed.code]).toEqual(["ok\n", 0]);
  });

  test("names the agent and its session, and opens no editor, pager or question", async () => {
    const names = "PI_TS AI_AGENT GIT_TERMINAL_PROMPT GIT_EDITOR EDITOR PAGER";
    const { told } = await runCommands([{ command: `printenv ${names}` }, { command: "printenv PI_TS_SESSION_ID" }], {
      env: { EDITOR: "vim", PAGER: "less" },
    });
    expect(told[0]).toBe("1\npi-ts\n0\nfalse\nfalse\ncat\n[exit code 0]");
    expect(told[1]).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}\n\[exit code 0\]$/);
  });
});

test("a recording of a run with huge output answers although the output's file is another one", async () => {
  await using dir = tmp();
  const recording = dir.file("run.jsonl");
  const calls = [{ command: "seq 1 30000" }];
  expect((await runCommands(calls, { cwd: dir.path, flags: ["--record", recording] })).code).toBe(0);
  const env = { PI_PROVIDER: "openai", TMPDIR: dir.path };
  const replayed = await runCli(["-p", "--yolo", "--replay", recording, "go"], { cwd: dir.path, env });
  expect([replayed.stdout, replayed.code]).toEqual(["ok\n", 0]);
  expect(replayed.stderr).toContain("→ bash seq 1 30000\n");
});
