import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { ToolResult } from "../../src/protocol/event.ts";
import { bash } from "../../src/tools/bash.ts";
import { spillLimit } from "../../src/tools/bash-spill.ts";
import { createFileMemory } from "../../src/tools/file-memory.ts";
import { grep } from "../../src/tools/grep.ts";
import { read } from "../../src/tools/read.ts";
import type { ToolOutput } from "../../src/tools/tool.ts";
import { childEnvironment } from "../../src/util/child-env.ts";
import { AppError } from "../../src/util/error.ts";
import { outputFolder } from "../../src/util/output-folder.ts";
import { killAllGroups, liveGroups } from "../../src/util/process-group.ts";
import { type CallOptions, callText, callTool } from "../helpers/call-tool.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const note = "[a background process still holds the output; what it prints from now on is not shown]\n";
const done = "[exit code 0]";

afterAll(() => {
  killAllGroups();
  rmSync(outputFolder(), { recursive: true });
});

/** Runs in the system's temporary folder. */
function run(command: string, options?: CallOptions): Promise<ToolOutput> {
  return callTool(bash, "/tmp", { command }, options);
}

/** The result without the time it took. */
function timeless(output: ToolOutput): ToolOutput {
  const { wall_time_seconds, ...facts } = output.structuredContent as Record<string, unknown>;
  expect(wall_time_seconds).toBeNumber();
  return { ...output, structuredContent: facts };
}

async function timed<Value>(value: Promise<Value>): Promise<[Value, number]> {
  const started = performance.now();
  return [await value, performance.now() - started];
}

describe("the result", () => {
  test("ends with the exit code and carries the same facts for programs", async () => {
    expect(timeless(await run("echo out; exit 3"))).toEqual({
      text: "out\n[exit code 3]",
      isError: true,
      structuredContent: { output: "out\n", truncated: false, exit_code: 3 },
    });
  });

  test.each([
    ["a plain success", "true", done],
    ["the failure of the last command", "exit 3", "[exit code 3]"],
    ["no implicit pipefail", "false | cat", done],
    ["a closed pipe kills the writer quietly", "yes | head -1", `y\n${done}`],
    ["with pipefail, which signal it was", "set -o pipefail; yes | head -1", "y\n[exit code 141 = 128 + SIGPIPE]"],
    ["the death of a child by signal", "sh -c 'kill -TERM $$'; exit $?", /\[exit code 143 = 128 \+ SIGTERM\]$/],
    ["the shell's own death by signal", "kill -9 $$", "[killed by SIGKILL: exit code 137]"],
    ["an unknown command", "nosuchcommand", "bash: line 1: nosuchcommand: command not found\n[exit code 127]"],
    ["a command that looks like an option", "-e", "bash: line 1: -e: command not found\n[exit code 127]"],
    ["a last line without an end", "printf x", `x\n${done}`],
    ["NUL left out", "printf 'a\\000b'", `ab\n${done}`],
    ["a lone surrogate replaced", "printf '\\xed\\xa0\\x80'", `\ufffd\ufffd\ufffd\n${done}`],
    ["bytes that are not UTF-8 replaced", "printf '\\xff\\xfe'", `\ufffd\ufffd\n${done}`],
    ["a character that ends too early", "printf 'a\\xe2\\x82'", `a\ufffd\n${done}`],
    ["a character in two writes", "printf '\\xe2\\x82'; sleep 0.05; printf '\\xac'", `€\n${done}`],
    ["a byte order mark kept", "printf '\\xef\\xbb\\xbfx'", `\ufeffx\n${done}`],
    ["colours left out", "printf '\\033[31mred\\033[0m'", `red\n${done}`],
    ["a sequence in two writes left out", "printf 'a\\033[3'; sleep 0.05; printf '1mb'", `ab\n${done}`],
    [
      "a progress bar as it was last",
      "printf '10%%\\r20%%\\r'; sleep 0.05; printf '100%%\\r\\ndone\\r\\n'",
      `100%\ndone\n${done}`,
    ],
  ])("%s", async (_, command, text) => {
    expect((await run(command)).text).toMatch(typeof text === "string" ? new RegExp(`^${RegExp.escape(text)}$`) : text);
  });

  test("of a binary is well-formed text without control characters", async () => {
    const { text, structuredContent } = await run("head -c 100000 /bin/ls");
    expect(text.isWellFormed()).toBe(true);
    expect(text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
    expect(text).toEndWith(done);
    expect(structuredContent).toMatchObject({ truncated: false, exit_code: 0 });
  });

  test("names the signal for programs too", async () => {
    expect((await run("kill -9 $$")).structuredContent).toMatchObject({ exit_code: 137, signal: "SIGKILL" });
  });

  test("keeps stdout and stderr in the order they were written", async () => {
    const round = "echo a; echo b >&2; echo c";
    const texts = await Promise.all(Array.from({ length: 10 }, async () => (await run(`${round}; ${round}`)).text));
    expect(new Set(texts)).toEqual(new Set([`a\nb\nc\na\nb\nc\n${done}`]));
  });

  test("has what is written to /dev/stdout and /dev/stderr by name", async () => {
    const { text } = await run("echo a > /dev/stderr; echo b | tee /dev/stderr; echo c > /dev/stdout");
    expect(text).toBe(`a\nb\nb\nc\n${done}`);
  });
});

describe("input", () => {
  test.each([
    ["a command that is not there", {}, "'command' must be a string (it is missing)"],
    ["a limit over the maximum", { command: "", timeout_ms: 600_001 }, "'timeout_ms' must be at most 600000"],
    ["no time at all", { command: "", timeout_ms: 0 }, "'timeout_ms' must be at least 1"],
    ["a part of a millisecond", { command: "", timeout_ms: 1.5 }, "'timeout_ms' must be a whole number"],
    ["a field we do not know", { command: "", timeout: 1 }, "unknown field 'timeout'"],
  ])("%s is refused by name", async (_, args, message) => {
    expect(await callText(bash, "/tmp", args)).toBe(`Error: invalid arguments for bash: ${message}`);
  });

  test.each([
    ["NUL", "a\0b", "Error: a command cannot contain a NUL character"],
    [
      "an endless command",
      "x".repeat(200_000),
      "Error: the command is too long (200000 characters); write it to a file and run that",
    ],
  ])("%s is an error for the model", async (_, command, text) => {
    expect((await run(command)).text).toBe(text);
  });

  test("the whole command is shown before it runs", async () => {
    const command = `echo ${"long ".repeat(1000)}\n# second line`;
    const invocation = bash.prepare({ command });
    expect([
      invocation.summary,
      await invocation.preview({ cwd: "/", files: createFileMemory() }),
      invocation.paths,
    ]).toEqual([command, command, []]);
  });
});

describe("a command that would wait for a person", () => {
  test.each([
    ["has no input", "cat; read x; echo $?", `1\n${done}`],
    ["has no terminal", "tty; (: < /dev/tty) 2>&1 | grep -o 'No such device'", `not a tty\nNo such device\n${done}`],
    ["leads a session of its own", "ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo leads", `leads\n${done}`],
  ])("%s", async (_, command, text) => {
    expect((await run(command)).text).toBe(text);
  });

  test("gets no editor from git, also for a rebase, and no pager", async () => {
    await using dir = tmp();
    const own = { ...process.env, HOME: dir.path, GIT_CONFIG_NOSYSTEM: "1" };
    const env = childEnvironment(own, { keyVariables: [], keys: [], pass: [], sessionId: "s" });
    const git = (command: string) => callTool(bash, dir.path, { command, timeout_ms: 5000 }, { env });
    const identity = "git config user.name n; git config user.email e@x";
    await git(`git init -q .; ${identity}; git commit -q --allow-empty -m one; git commit -q --allow-empty -m two`);
    const committed = await git("git commit --allow-empty");
    expect(committed.text).toStartWith("error: There was a problem with the editor 'false'.\n");
    expect(committed.text).toEndWith("\n[exit code 1]");
    expect((await git("git rebase -i HEAD~1")).text).toContain("problem with the editor 'false'");
    expect((await git("git log --format=%s")).text).toBe(`two\none\n${done}`);
  });

  test("sees the given environment and nothing of ours", async () => {
    const { text } = await run('echo "$A $HOME"', { env: { PATH: process.env.PATH, A: "1" } });
    expect(text).toBe(`1 \n${done}`);
  });
});

describe("a process left in the background", () => {
  test.each([
    ["silent", "sleep 600 & echo done", "done\n"],
    ["talking", "(while :; do sleep 1; echo x; done) & echo done", "done\n"],
    ["out of the group", "setsid sleep 600 & echo ok", "ok\n"],
  ])("does not keep the call from returning: %s", async (_, command, output) => {
    const [{ text }, ms] = await timed(run(command));
    expect(text).toBe(`${output}${note}${done}`);
    expect(ms).toBeLessThan(1500);
  });

  test("such as a server does not either", async () => {
    const [{ text }, ms] = await timed(run("python3 -m http.server --bind 127.0.0.1 0 & echo up"));
    expect(text).toStartWith("up\n");
    expect(text).toEndWith(`${note}${done}`);
    expect(ms).toBeLessThan(1500);
  });

  test("that never stops talking does not either", async () => {
    const [{ text }, ms] = await timed(run("yes & echo done", { maxOutput: 1000 }));
    expect(text).toEndWith(`\n${note}${done}`);
    expect(ms).toBeLessThan(3000);
    killAllGroups();
  });

  test("is no matter when it has let go of the output", async () => {
    expect((await run("sleep 600 > /dev/null 2>&1 & echo done")).text).toBe(`done\n${done}`);
  });

  test("can go on printing after the call has returned", async () => {
    await using dir = tmp();
    const command =
      "(until [ -e go ]; do sleep 0.02; done; for i in 1 2 3; do echo $i || exit; done; touch went-on) & echo started";
    expect(await callText(bash, dir.path, { command })).toBe(`started\n${note}${done}`);
    await Bun.write(dir.file("go"), "");
    await waitUntil(() => existsSync(dir.file("went-on")), "the background process has printed");
  });

  test("stays known until it ends", async () => {
    await using dir = tmp();
    const before = liveGroups();
    await callTool(bash, dir.path, { command: "(until [ -e go ]; do sleep 0.02; done) &" });
    const [group = 0, ...others] = liveGroups().filter((pid) => !before.includes(pid));
    expect([group > 1, others]).toEqual([true, []]);
    await Bun.write(dir.file("go"), "");
    await waitUntil(() => !liveGroups().includes(group), "the group is empty");
  });
});

/** Whether the process whose number stands in `file` runs. */
function runs(file: string): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${readFileSync(file, "utf8").trim()}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe.skipIf(process.platform !== "linux")("at the time limit", () => {
  test.concurrent.each([
    ["a pipeline", "echo $$ > pid; sleep 300 | cat"],
    ["a child that ignores the request to end", "bash -c 'echo $$ > pid; trap \"\" TERM; sleep 300'"],
    ["a busy loop", "echo $$ > pid; exec python3 -c 'while True: pass'"],
    ["a stopped process", "echo $$ > pid; kill -STOP $$"],
    ["a child that left the group", "setsid bash -c 'echo $$ > pid; sleep 300' & sleep 60"],
  ])("%s is killed and the call returns", async (_, command) => {
    await using dir = tmp();
    const [output, ms] = await timed(callTool(bash, dir.path, { command: `echo so far; ${command}`, timeout_ms: 500 }));
    expect(timeless(output)).toEqual({
      text: "Error: timed out after 500 ms; the process group was killed\nso far\n",
      isError: true,
      structuredContent: { output: "so far\n", truncated: false, exit_code: null },
    });
    expect(ms).toBeLessThan(1900);
    expect(runs(dir.file("pid"))).toBe(false);
  });

  test.concurrent("a daemon that cut all ties holds the output, and the call returns all the same", async () => {
    await using dir = tmp();
    const command = "(setsid sleep 600 & echo $! > pid); sleep 60";
    const [{ text }, ms] = await timed(callTool(bash, dir.path, { command, timeout_ms: 200 }));
    expect(text).toBe(`Error: timed out after 200 ms; the process group was killed\n${note.trimEnd()}`);
    expect(ms).toBeLessThan(1500);
    expect(runs(dir.file("pid"))).toBe(true);
    process.kill(Number(readFileSync(dir.file("pid"), "utf8")), "SIGKILL");
  });

  test.concurrent("what is written on the way out is still there", async () => {
    const command = "trap 'echo bye; exit' TERM; echo hi; while :; do :; done";
    const text = await callText(bash, "/tmp", { command, timeout_ms: 300 });
    expect(text).toBe("Error: timed out after 300 ms; the process group was killed\nhi\nbye\n");
  });
});

describe("an abort", () => {
  test("kills everything and returns the output so far", async () => {
    await using dir = tmp();
    const abort = new AbortController();
    const command = "echo $$ > pid; echo so far; sleep 300 | cat";
    const onUpdate = ({ content }: ToolResult) => void (content.length > 0 && abort.abort());
    const running = callTool(bash, dir.path, { command }, { signal: abort.signal, onUpdate });
    const [output, ms] = await timed(running);
    expect(timeless(output)).toEqual({
      text: "Error: aborted by the user\nso far\n",
      details: {},
      isError: true,
      structuredContent: { output: "so far\n", truncated: false, exit_code: null },
    });
    expect(ms).toBeLessThan(1500);
    expect(runs(dir.file("pid"))).toBe(false);
  });

  test("from before the start counts too", async () => {
    expect((await run("sleep 300", { signal: AbortSignal.abort() })).text).toBe("Error: aborted by the user\n");
  });
});

/** The parts of a cut text. */
function parts(text: string) {
  const pattern = /^(.*)\n\.\.\. <truncated, (\d+) more chars(?:; (.+): (\S+))?> \.\.\.\n(.*)\n\[exit code 0\]$/s;
  const [, head = "", left = "", which, path = "", tail = ""] = pattern.exec(text) ?? [];
  return { head, left: Number(left), which, path, tail };
}

describe("huge output", () => {
  test("keeps its beginning and its end, with the true number of characters between them", async () => {
    const command = "echo first; printf 'é%.0s' $(seq 5000); printf '\\nlast'";
    const { text, structuredContent, details } = await run(command, { maxOutput: 1000 });
    const { head, left, which, path, tail } = parts(text);
    expect(head.length + tail.length).toBe(1000);
    expect(head).toMatch(/^first\né{300,}$/);
    expect(tail).toMatch(/^é{300,}\nlast$/);
    expect(head.length + left + tail.length).toBe("first\n\nlast".length + 5000);
    expect(which).toBe("the whole output");
    const output = text.slice(0, -"\n[exit code 0]".length);
    expect(structuredContent).toMatchObject({ output, truncated: true, fullOutputPath: path, exit_code: 0 });
    expect(details).toEqual({ truncated: true, fullOutputPath: path });
  });

  test("is text in its file, whatever the command wrote: read and grep take it", async () => {
    const noise =
      "printf 'a\\xffb\\0c\\e[31mred\\e[0m\\n'; for i in 1 2 3; do printf \"\\rstep $i\"; done; echo; seq 1000; printf 'é\\xc3'";
    const { text } = await run(noise, { maxOutput: 1000 });
    const { path } = parts(text);
    const numbers = Array.from({ length: 1000 }, (_, i) => `${i + 1}\n`).join("");
    expect(readFileSync(path, "utf8")).toBe(`a\ufffdbcred\nstep 3\n${numbers}é\ufffd`);
    expect(await callText(read, "/", { path, limit: 1 })).toStartWith("     1\ta\ufffdbcred\n");
    expect(await callText(grep, "/", { path, pattern: "step" })).toEndWith(":2: step 3");
  });

  test("is whole in a file that nobody else can read", async () => {
    const { text } = await run("seq 1 20000", { maxOutput: 1000 });
    const { path } = parts(text);
    expect(readFileSync(path, "utf8")).toBe(Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join(""));
    expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test("is in the file up to its limit", async () => {
    const { text } = await run(`head -c ${spillLimit + 1} /dev/zero | tr '\\0' x`, { maxOutput: 1000 });
    const { which, path } = parts(text);
    expect(which).toBe("the first 50 MB of the output");
    expect(statSync(path).size).toBe(spillLimit);
  });

  test("does not depend on where the file is, so that a recording of the run answers elsewhere", async () => {
    const [one, two] = [await run("seq 1 20000", { maxOutput: 1000 }), await run("seq 1 20000", { maxOutput: 1000 })];
    const steady = ({ text }: ToolOutput) => text.replace(/\d+\.txt/, "N.txt");
    expect(steady(one)).toBe(steady(two));
  });

  test("that just fits is whole, and one character more is not", async () => {
    expect((await run(`head -c 1000 /dev/zero | tr '\\0' x`, { maxOutput: 1000 })).text).toBe(
      `${"x".repeat(1000)}\n${done}`,
    );
    expect((await run(`head -c 1001 /dev/zero | tr '\\0' x`, { maxOutput: 1000 })).text).toContain(
      "truncated, 1 more chars",
    );
  });

  test.each([2, 10, 50, 100, 400])(
    "keeps just %i characters when no more are wanted, and counts the rest",
    async (maxOutput) => {
      const { text } = await run('printf %s "$(seq 1 1000)"', { maxOutput });
      const { head, left, tail } = parts(text);
      expect([head.length + tail.length, left]).toEqual([maxOutput, 3892 - maxOutput]);
      expect(text).toEndWith(done);
    },
  );

  test.each([
    ["endless lines", "yes"],
    ["one endless line", "tr '\\0' x < /dev/zero"],
    ["nothing but NUL", "cat /dev/zero"],
  ])("is bounded in memory and in time: %s", async (_, command) => {
    const before = process.memoryUsage.rss();
    let updates = 0;
    let longest = 0;
    const onUpdate: CallOptions["onUpdate"] = ({ content: [block] }) => {
      updates++;
      if (block?.type === "text") longest = Math.max(longest, block.text.length);
    };
    const [{ text }, ms] = await timed(
      callTool(bash, "/tmp", { command, timeout_ms: 600 }, { maxOutput: 1000, onUpdate }),
    );
    expect(text).toStartWith("Error: timed out after 600 ms");
    expect(text.length).toBeLessThanOrEqual(1300);
    expect(ms).toBeLessThan(2500);
    expect(process.memoryUsage.rss() - before).toBeLessThan(150_000_000);
    expect(updates).toBeLessThan(15);
    expect(longest).toBeLessThanOrEqual(4000);
  });

  test("in one line of 200 MB is counted to the end", async () => {
    const before = process.memoryUsage.rss();
    const { text } = await run("head -c 200000000 /dev/zero | tr '\\0' x", { maxOutput: 1000 });
    const { head, left, tail } = parts(text);
    expect(head.length + left + tail.length).toBe(200_000_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
  });

  test("of many small pieces costs no more than one of large ones", async () => {
    const command = "for i in {1..30000}; do printf '\\r%i' $i; done; echo; for i in {1..30000}; do echo $i; done";
    const [{ text }, ms] = await timed(run(command, { maxOutput: 100_000 }));
    expect(text).toStartWith("30000\n1\n2\n");
    expect(text).toEndWith(`\n30000\n${done}`);
    expect(ms).toBeLessThan(5000);
  });
});

test("output is reported while the command runs", async () => {
  await using dir = tmp();
  const seen: unknown[] = [];
  const { text } = await callTool(
    bash,
    dir.path,
    { command: "echo one; until [ -e go ]; do sleep 0.01; done; echo two" },
    {
      onUpdate: (partial) => {
        seen.push(partial);
        if (partial.content.length > 0) void Bun.write(dir.file("go"), "");
      },
    },
  );
  expect(text).toBe(`one\ntwo\n${done}`);
  expect(seen.slice(0, 2)).toEqual([{ content: [] }, { content: [{ type: "text", text: "one\n" }], details: {} }]);
});

test("a command runs in the sandbox when there is one", async () => {
  const sandbox = (words: readonly string[]) => ["env", "IN_SANDBOX=yes", ...words];
  expect((await run('echo "$IN_SANDBOX"', { sandbox })).text).toBe(`yes\n${done}`);
});

describe("a machine that cannot run commands", () => {
  test("without bash ends the run with what to do", async () => {
    const failure = await run("true", { env: { PATH: "/nowhere" } }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AppError);
    expect(failure).toMatchObject({ code: "tool_fatal", hint: "Check that bash is installed and in the PATH." });
  });

  test("without its working directory too", async () => {
    await using dir = tmp();
    rmSync(dir.path, { recursive: true });
    const failure = await callTool(bash, dir.path, { command: "true" }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "tool_fatal", message: `The working directory is gone: ${dir.path}` });
  });
});
