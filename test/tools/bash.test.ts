import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { bash } from "../../src/tools/bash.ts";
import type { ToolOutput } from "../../src/tools/tool.ts";
import { AppError } from "../../src/util/error.ts";
import { killAllGroups, liveGroups } from "../../src/util/process-group.ts";
import { type CallOptions, callText, callTool } from "../helpers/call-tool.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const note = "note: a background process still holds the output; what it prints from now on is not shown\n";

afterAll(killAllGroups);

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
  test("begins with the exit code and carries the same facts for programs", async () => {
    expect(timeless(await run("echo out; exit 3"))).toEqual({
      text: "exit code: 3\nout\n",
      isError: true,
      structuredContent: { output: "out\n", truncated: false, exit_code: 3 },
    });
  });

  test.each([
    ["a plain success", "true", "exit code: 0\n"],
    ["no implicit pipefail", "false | cat", "exit code: 0\n"],
    ["a closed pipe kills the writer quietly", "yes | head -1", "exit code: 0\ny\n"],
    ["the shell's own death by signal", "kill -9 $$", "exit code: 137 (killed by SIGKILL)\n"],
    ["an unknown command", "nosuchcommand", "exit code: 127\nbash: line 1: nosuchcommand: command not found\n"],
    ["a command that looks like an option", "-e", "exit code: 127\nbash: line 1: -e: command not found\n"],
    ["NUL left out", "printf 'a\\000b'", "exit code: 0\nab"],
    ["a lone surrogate replaced", "printf '\\xed\\xa0\\x80'", "exit code: 0\n\ufffd\ufffd\ufffd"],
    ["bytes that are not UTF-8 replaced", "printf '\\xff\\xfe'", "exit code: 0\n\ufffd\ufffd"],
    ["a character that ends too early", "printf 'a\\xe2\\x82'", "exit code: 0\na\ufffd"],
    ["a character in two writes", "printf '\\xe2\\x82'; sleep 0.05; printf '\\xac'", "exit code: 0\n€"],
    ["a byte order mark kept", "printf '\\xef\\xbb\\xbfx'", "exit code: 0\n\ufeffx"],
  ])("%s", async (_, command, text) => {
    expect((await run(command)).text).toBe(text);
  });

  test("keeps stdout and stderr in the order they were written", async () => {
    const round = "echo a; echo b >&2; echo c";
    const texts = await Promise.all(Array.from({ length: 10 }, async () => (await run(`${round}; ${round}`)).text));
    expect(new Set(texts)).toEqual(new Set(["exit code: 0\na\nb\nc\na\nb\nc\n"]));
  });

  test("has what is written to /dev/stdout and /dev/stderr by name", async () => {
    const { text } = await run("echo a > /dev/stderr; echo b | tee /dev/stderr; echo c > /dev/stdout");
    expect(text).toBe("exit code: 0\na\nb\nb\nc\n");
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
    expect([invocation.summary, await invocation.preview({ cwd: "/" }), invocation.paths]).toEqual([
      command,
      command,
      [],
    ]);
  });
});

describe("a command that would wait for a person", () => {
  test.each([
    ["has no input", "cat; read x; echo $?", "exit code: 0\n1\n"],
    [
      "has no terminal",
      "tty; (: < /dev/tty) 2>&1 | grep -o 'No such device'",
      "exit code: 0\nnot a tty\nNo such device\n",
    ],
    ["leads a session of its own", "ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo leads", "exit code: 0\nleads\n"],
  ])("%s", async (_, command, text) => {
    expect((await run(command)).text).toBe(text);
  });

  test("gets no editor from git, also for a rebase, and no pager", async () => {
    await using dir = tmp();
    const env = { ...process.env, HOME: dir.path, GIT_CONFIG_NOSYSTEM: "1" };
    const git = (command: string) => callTool(bash, dir.path, { command, timeout_ms: 5000 }, { env });
    const identity = "git config user.name n; git config user.email e@x";
    await git(`git init -q .; ${identity}; git commit -q --allow-empty -m one; git commit -q --allow-empty -m two`);
    const committed = await git("git commit --allow-empty");
    expect(committed.text).toStartWith("exit code: 1\nerror: There was a problem with the editor 'false'.\n");
    expect((await git("git rebase -i HEAD~1")).text).toContain("problem with the editor 'false'");
    expect((await git("git log --format=%s")).text).toBe("exit code: 0\ntwo\none\n");
  });

  test("sees the given environment and the names of the agent", async () => {
    const { text } = await run('echo "$A $PAGER $GIT_TERMINAL_PROMPT $PI_TS $AI_AGENT $HOME"', {
      env: { PATH: process.env.PATH, A: "1", PAGER: "less" },
    });
    expect(text).toBe("exit code: 0\n1 cat 0 1 pi-ts \n");
  });
});

describe("a process left in the background", () => {
  test.each([
    ["silent", "sleep 600 & echo done", "done\n"],
    ["talking", "(while :; do sleep 1; echo x; done) & echo done", "done\n"],
    ["out of the group", "setsid sleep 2 & echo ok", "ok\n"],
  ])("does not keep the call from returning: %s", async (_, command, output) => {
    const [{ text }, ms] = await timed(run(command));
    expect(text).toBe(`exit code: 0\n${note}${output}`);
    expect(ms).toBeLessThan(1500);
  });

  test("that never stops talking does not either", async () => {
    const [{ text }, ms] = await timed(run("yes & echo done", { maxOutput: 1000 }));
    expect(text).toStartWith(`exit code: 0\n${note}`);
    expect(ms).toBeLessThan(3000);
    killAllGroups();
  });

  test("is no matter when it has let go of the output", async () => {
    expect((await run("sleep 600 > /dev/null 2>&1 & echo done")).text).toBe("exit code: 0\ndone\n");
  });

  test("can go on printing after the call has returned", async () => {
    await using dir = tmp();
    const command =
      "(until [ -e go ]; do sleep 0.02; done; for i in 1 2 3; do echo $i || exit; done; touch went-on) & echo started";
    expect(await callText(bash, dir.path, { command })).toBe(`exit code: 0\n${note}started\n`);
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

  test.concurrent("a process that left the group holds the output, and the call returns all the same", async () => {
    const [{ text }, ms] = await timed(
      callTool(bash, "/tmp", { command: "setsid sleep 2 & sleep 60", timeout_ms: 200 }),
    );
    expect(text).toBe(`Error: timed out after 200 ms; the process group was killed\n${note}`);
    expect(ms).toBeLessThan(1500);
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
    const running = callTool(bash, dir.path, { command }, { signal: abort.signal, onUpdate: () => abort.abort() });
    const [output, ms] = await timed(running);
    expect(timeless(output)).toEqual({
      text: "Error: aborted by the user\nso far\n",
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

describe("huge output", () => {
  test("is cut with the true number of characters left out", async () => {
    const { text, structuredContent } = await run("printf 'é%.0s' $(seq 5000)", { maxOutput: 1000 });
    expect(text.length).toBeLessThanOrEqual(1000);
    const [, head = "", left] = /^exit code: 0\n(é+)\n\.\.\. <truncated, (\d+) more chars>$/.exec(text) ?? [];
    expect(head.length + Number(left)).toBe(5000);
    expect(structuredContent).toMatchObject({ output: head, truncated: true, exit_code: 0 });
  });

  test("that just fits is whole", async () => {
    const room = 1000 - "exit code: 0\n".length;
    expect((await run(`head -c ${room} /dev/zero | tr '\\0' x`, { maxOutput: 1000 })).text).toBe(
      `exit code: 0\n${"x".repeat(room)}`,
    );
    expect((await run(`head -c ${room + 1} /dev/zero | tr '\\0' x`, { maxOutput: 1000 })).text).toEndWith(
      " more chars>",
    );
  });

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
    expect(text.length).toBeLessThanOrEqual(1000);
    expect(ms).toBeLessThan(2500);
    expect(process.memoryUsage.rss() - before).toBeLessThan(150_000_000);
    expect(updates).toBeLessThan(15);
    expect(longest).toBeLessThanOrEqual(4000);
  });

  test("in one line of 20 MB is counted to the end", async () => {
    const { text } = await run("head -c 20000000 /dev/zero | tr '\\0' x", { maxOutput: 1000 });
    const [, head = "", left] = /^exit code: 0\n(x+)\n\.\.\. <truncated, (\d+) more chars>$/.exec(text) ?? [];
    expect(head.length + Number(left)).toBe(20_000_000);
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
        void Bun.write(dir.file("go"), "");
      },
    },
  );
  expect(text).toBe("exit code: 0\none\ntwo\n");
  expect(seen[0]).toEqual({ content: [{ type: "text", text: "one\n" }] });
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
