// One-shot runs of the compiled binary against a scripted model: what reaches stdout and stderr, and the exit code.
import { describe, expect, test } from "bun:test";
import { closeSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openFifo } from "../helpers/open-fifo.ts";
import { gate, type Reply, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, cleanEnv, runCli, startCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

/** The environment of a run against `url` with the default provider. */
function at(url: string, extra: Record<string, string> = {}) {
  return {
    ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
    PI_PROVIDER: "openai",
    OPENAI_API_KEY: "sk-test-0123456789abcdef",
    PI_BASE_URL: url,
    ...extra,
  };
}

const hello: Reply = { turn: { text: "Hello from the model." } };

describe("an answer", () => {
  test("is all there is on stdout, with exit code 0", async () => {
    await using server = await startReplayServer([hello]);
    const result = await runCli(["-p", "hi"], { env: at(server.url) });
    expect(result).toEqual({
      stdout: "Hello from the model.\n",
      stderr: expect.stringMatching(/^session [0-9a-f-]{36}/),
      code: 0,
      signal: null,
    });
    expect(server.problems).toEqual([]);
  });

  test("comes without -p where there is no terminal", async () => {
    await using server = await startReplayServer([hello]);
    const result = await runCli(["hi"], { env: at(server.url) });
    expect([result.stdout, result.code]).toEqual(["Hello from the model.\n", 0]);
  });

  test("to a word that is nearly a command's name comes with a line that says so", async () => {
    await using server = await startReplayServer(Array(9).fill(hello));
    await using dir = tmp();
    writeFileSync(dir.file("modles"), "");
    const noted = async (...args: string[]) => {
      const { stdout, stderr, code } = await runCli(args, { env: at(server.url), cwd: dir.path, home: dir.path });
      expect([stdout, code]).toEqual(["Hello from the model.\n", 0]);
      return stderr.split("\n").filter((line) => line.includes("is a command"));
    };
    expect(await noted("docter")).toEqual(["warning: pi-ts doctor is a command; this runs 'docter' as a task"]);
    for (const args of [
      ["--quiet", "docter"],
      ["-p", "docter"],
      ["--", "doctor"],
      ["docter", "now"],
    ])
      expect(await noted(...args)).toEqual([]);
    for (const word of ["modles", "explain"]) expect(await noted(word)).toEqual([]);
    mkdirSync(dir.file(".pi-ts"), { recursive: true });
    writeFileSync(dir.file(".pi-ts/config.toml"), "quiet = true\n");
    expect(await noted("docter")).toEqual([]);
    expect(await noted("--verbose", "docter")).toHaveLength(1);
    expect(server.problems).toEqual([]);
  });

  test("keeps text byte for byte in a pipe, also control characters", async () => {
    await using server = await startReplayServer([{ turn: { text: "a\u001b[2Kb 北🌍\u202e\n" } }]);
    const result = await runCli(["-p", "hi"], { env: at(server.url) });
    expect(result.stdout).toBe("a\u001b[2Kb 北🌍\u202e\n");
  });

  test("stands behind all that was said before, where stderr goes to the same pipe and nobody reads it yet", async () => {
    await using dir = tmp();
    // Of each two lines of words: too many for a pipe.
    const calls = Array.from({ length: 1000 }, (_, i) => ({
      id: `c${i}`,
      name: "read",
      arguments: { path: `${"missing-".repeat(10)}${i}` },
    }));
    await using server = await startReplayServer([{ turn: { calls } }, hello]);
    const { reader, writer } = openFifo(dir.file("output"));
    const sessions = dir.file("sessions");
    const child = Bun.spawn([binaryPath(), "-p", "--session-dir", sessions, "hi"], {
      cwd: dir.path,
      env: cleanEnv(dir.path, at(server.url)),
      stdio: ["ignore", writer, writer],
      timeout: 15_000,
      killSignal: "SIGKILL",
    });
    closeSync(writer);
    await server.request(1);
    const [session = ""] = new Bun.Glob("*/*.jsonl").scanSync(sessions);
    await waitUntil(() => readFileSync(join(sessions, session), "utf8").includes("Hello"), "the answer is stored");
    const lines = readFileSync(reader, "utf8").trimEnd().split("\n");
    closeSync(reader);
    expect(lines.filter((line) => line.startsWith("→ read"))).toHaveLength(1000);
    expect(lines.at(-1)).toBe("Hello from the model.");
    expect(await child.exited).toBe(0);
  }, 20_000);

  test("to a full disk is no success", async () => {
    await using server = await startReplayServer([hello]);
    await using dir = tmp();
    const run = Bun.spawn(["sh", "-c", `exec "$0" -p hi > /dev/full`, binaryPath()], {
      env: cleanEnv(dir.path, at(server.url)),
      stderr: "pipe",
    });
    expect(await run.exited).toBe(1);
    expect(await run.stderr.text()).toContain("Could not write to stdout: ENOSPC");
  });
});

describe("several tool turns", () => {
  test("read, edit and check a real file, and only the final answer reaches stdout", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("a.txt"), "one\ntwo\r\nthree\n");
    await using server = await startReplayServer([
      { turn: { text: "Let me look.", calls: [{ id: "c1", name: "read", arguments: { path: "a.txt" } }] } },
      {
        turn: {
          calls: [{ id: "c2", name: "edit", arguments: { path: "a.txt", old_string: "two", new_string: "2$&" } }],
        },
      },
      {
        turn: {
          calls: [
            { id: "c3", name: "bash", arguments: { command: "cat a.txt; exit 3" } },
            { id: "c4", name: "write", arguments: { path: "sub/b.txt", content: "new" } },
          ],
        },
      },
      { turn: { text: "Done.", usage: { prompt: 10, completion: 2 } } },
    ]);
    const result = await runCli(["-p", "--yolo", "change it"], { env: at(server.url), cwd: dir.path });
    expect(result.stdout).toBe("Done.\n");
    expect(result.code).toBe(0);
    expect(readFileSync(dir.file("a.txt"), "utf8")).toBe("one\n2$&\r\nthree\n");
    expect(readFileSync(dir.file("sub/b.txt"), "utf8")).toBe("new");
    expect(server.problems).toEqual([]);
    expect(server.requests).toHaveLength(4);
    const results = server.requests[3]?.body.messages.filter((message: { role: string }) => message.role === "tool");
    expect(results.map((message: { tool_call_id: string }) => message.tool_call_id)).toEqual(["c1", "c2", "c3", "c4"]);
    expect(results[0].content).toBe("     1\tone\n     2\ttwo\n     3\tthree");
    expect(results[2].content).toStartWith("one\n");
    expect(results[2].content).toEndWith("\n[exit code 3]");
    expect(result.stderr).toContain("→ edit a.txt");
  });

  test("--quiet keeps stderr empty", async () => {
    await using server = await startReplayServer([
      { turn: { calls: [{ name: "read", arguments: { path: "nothing" } }] } },
      hello,
    ]);
    const result = await runCli(["-p", "--quiet", "x"], { env: at(server.url) });
    expect([result.stdout, result.stderr, result.code]).toEqual(["Hello from the model.\n", "", 0]);
  });

  test("an unknown tool and wrong arguments go back to the model in words", async () => {
    await using server = await startReplayServer([
      {
        turn: {
          calls: [
            { id: "a", name: "fly", arguments: {} },
            { id: "b", name: "read", arguments: { path: 7 } },
            { id: "c", name: "read", arguments: '{"path": "x' },
            { id: "d", name: "read", arguments: {} },
          ],
        },
      },
      hello,
    ]);
    await runCli(["-p", "x"], { env: at(server.url) });
    const results = server.requests[1]?.body.messages.slice(-4).map(({ content }: { content: string }) => content);
    expect(results[0]).toBe("Error: unknown tool 'fly'");
    expect(results[1]).toContain("'path' must be a string");
    expect(results[2]).toMatch(/^Error: not run: .*output limit cut this call off/);
    expect(results[3]).toContain("'path' must be a string (it is missing)");
  });

  test("results over --max-tool-output say how many characters are left out", async () => {
    await using server = await startReplayServer([
      { turn: { calls: [{ name: "bash", arguments: { command: "printf 'x%.0s' {1..5000}" } }] } },
      { turn: { calls: [{ name: "read", arguments: { path: "big.txt" } }] } },
      hello,
    ]);
    await using dir = tmp();
    writeFileSync(dir.file("big.txt"), "y".repeat(1500));
    await runCli(["-p", "--yolo", "--max-tool-output", "1000", "x"], { env: at(server.url), cwd: dir.path });
    const [first, second] =
      server.requests[2]?.body.messages.filter(({ role }: { role: string }) => role === "tool") ?? [];
    expect(first.content).toMatch(
      /\n\.\.\. <truncated, \d+ more chars; the whole output: \S+> \.\.\.\nx+\n\[exit code 0\]$/,
    );
    expect(second.content).toMatch(/\d+ more of its 1500 chars/);
  });
});

describe("failures", () => {
  test("an API error goes to stderr in its own words, with the key hidden, and gives 1", async () => {
    const body = { error: { message: "Invalid key sk-test-0123456789abcdef", type: "invalid_request_error" } };
    await using server = await startReplayServer([refusal(401, body)]);
    const result = await runCli(["-p", "hi"], { env: at(server.url) });
    expect([result.stdout, result.code]).toEqual(["", 1]);
    expect(result.stderr).toContain("error: 401: invalid_request_error: Invalid key [key hidden]\n");
  });

  test("an answer that breaks off is not taken for one", async () => {
    await using server = await startReplayServer(() => ({
      body: [`data: {"choices":[{"delta":{"content":"Half an"}}]}\n\n`],
    }));
    const result = await runCli(["-p", "--max-retries", "0", "hi"], { env: at(server.url) });
    expect([result.stdout, result.code]).toEqual(["", 1]);
    expect(result.stderr).toContain("Half an");
    expect(result.stderr).toContain("closed in the middle of the answer");
  });

  test.each([{}, { text: " \n" }])("an empty answer (%j) gives 1, and is not shown as one", async (turn) => {
    await using server = await startReplayServer([{ turn }]);
    const { stdout, stderr, code } = await runCli(["-p", "--no-session", "hi"], { env: at(server.url) });
    expect({ stdout, stderr, code }).toEqual({
      stdout: "",
      stderr: "error: The model returned an empty answer\n",
      code: 1,
    });
  });

  test("a dead port gives 1", async () => {
    const result = await runCli(["-p", "--max-retries", "0", "hi"], { env: at("http://127.0.0.1:1/v1") });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("Could not reach http://127.0.0.1:1");
  });

  test("the turn limit warns and gives 1", async () => {
    await using server = await startReplayServer(() => ({
      turn: { calls: [{ name: "read", arguments: { path: "." } }] },
    }));
    const result = await runCli(["-p", "--max-turns", "3", "hi"], { env: at(server.url) });
    expect([result.stdout, result.code, server.requests.length]).toEqual(["", 1, 3]);
    expect(result.stderr).toContain("Stopped after 3 turns");
  });

  test("a shell that cannot be started is a fatal tool error and gives 1", async () => {
    await using dir = tmp();
    await using server = await startReplayServer([
      { turn: { calls: [{ name: "bash", arguments: { command: "true" } }] } },
    ]);
    const result = await runCli(["-p", "--yolo", "hi"], { env: { ...at(server.url), PATH: dir.path } });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("bash cannot be started");
  });

  test.each([
    [["-p", "hi"], { PI_PROVIDER: "openai" }, "set $OPENAI_API_KEY"],
    [["-p", "hi"], {}, "set $ANTHROPIC_API_KEY"],
    [["-p", "--modell", "x", "hi"], {}, "Did you mean --model?"],
    [["-p", "--model"], {}, "--model needs a value"],
    [["-p", "-P", "nobody", "hi"], {}, "Unknown provider 'nobody'"],
    [["-p", "--max-turns", "0", "hi"], {}, "--max-turns must be a whole number above 0"],
    [["-p", "--base-url", "ftp://x", "hi"], {}, "not an http or https URL"],
    [["-p"], { ANTHROPIC_API_KEY: "x" }, "No task given"],
    [["-p", "  "], { ANTHROPIC_API_KEY: "x" }, "No task given"],
  ])("%j with %j is told and gives 2", async (args, env, message) => {
    const result = await runCli(args, { env });
    expect([result.stdout, result.code]).toEqual(["", 2]);
    expect(result.stderr).toContain(message);
  });
});

describe("signals", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s in the middle of an answer gives %i", async (signal, code) => {
    await using server = await startReplayServer([
      { body: [`data: {"choices":[{"delta":{"content":"x"}}]}\n\n`, new Promise(() => {})] },
    ]);
    await using cli = startCli(["-p", "hi"], { env: at(server.url) });
    await server.request(0);
    cli.kill(signal);
    expect((await cli.exited).code).toBe(code);
  });

  test.skipIf(process.platform !== "linux")("SIGHUP does not end a run that nohup has started", async () => {
    const { opened, open } = gate();
    await using server = await startReplayServer(async () => {
      await opened;
      return hello;
    });
    await using dir = tmp();
    const run = Bun.spawn(["nohup", binaryPath(), "-p", "--result", "result.json", "hi"], {
      cwd: dir.path,
      env: cleanEnv(dir.path, at(server.url)),
      stderr: "ignore",
    });
    await server.request(0);
    run.kill("SIGHUP");
    open();
    expect(await run.stdout.text()).toBe("Hello from the model.\n");
    expect(await run.exited).toBe(0);
  });

  test("SIGTERM in the middle of a command ends everything the command started", async () => {
    await using dir = tmp();
    const command = "sleep 300 & echo $! > pid; echo $$ > shell; wait";
    await using server = await startReplayServer([{ turn: { calls: [{ name: "bash", arguments: { command } }] } }]);
    await using cli = startCli(["-p", "--yolo", "hi"], { env: at(server.url), cwd: dir.path });
    await cli.waitFor("→ bash");
    while (!existsSync(dir.file("shell")) || readFileSync(dir.file("shell"), "utf8") === "") await Bun.sleep(5);
    cli.kill("SIGTERM");
    expect((await cli.exited).code).toBe(143);
    for (const name of ["pid", "shell"]) expect(isRunning(Number(readFileSync(dir.file(name), "utf8")))).toBe(false);
  });

  test("what a command leaves behind ends with the run", async () => {
    await using dir = tmp();
    const command = "sleep 300 & echo $! > pid; echo done";
    await using server = await startReplayServer([
      { turn: { calls: [{ name: "bash", arguments: { command } }] } },
      hello,
    ]);
    const result = await runCli(["-p", "--yolo", "hi"], { env: at(server.url), cwd: dir.path });
    expect(result.code).toBe(0);
    expect(isRunning(Number(readFileSync(dir.file("pid"), "utf8")))).toBe(false);
  });
});

/** Whether a process runs; one that has ended but not been reaped does not. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/\) [ZX]/.test(stat);
  } catch {
    return false;
  }
}

describe("standard input", () => {
  test("a task of - is read from it", async () => {
    await using server = await startReplayServer([hello]);
    await runCli(["-p", "-"], { env: at(server.url), stdin: { text: "from stdin" } });
    expect(server.requests[0]?.body.messages.at(-1)).toEqual({ role: "user", content: "from stdin" });
  });

  test("a folder in its place is wrong usage", async () => {
    await using dir = tmp();
    const run = Bun.spawn(["sh", "-c", `exec "$0" -p - < .`, binaryPath()], {
      cwd: dir.path,
      env: cleanEnv(dir.path, at("http://127.0.0.1:9")),
      stderr: "pipe",
    });
    expect(await run.exited).toBe(2);
    expect(await run.stderr.text()).toStartWith("error: stdin cannot be read: EISDIR");
  });

  test("piped text is added to the task", async () => {
    await using server = await startReplayServer([hello]);
    await runCli(["-p", "review this"], { env: at(server.url), stdin: { text: "diff --git" } });
    expect(server.requests[0]?.body.messages.at(-1).content).toBe("review this\n\ndiff --git");
  });

  test("an open, silent pipe is not waited for, and that is said", async () => {
    await using server = await startReplayServer([hello]);
    const result = await runCli(["-p", "hi"], { env: at(server.url), stdin: "open" });
    expect([result.stdout, result.code]).toEqual(["Hello from the model.\n", 0]);
    expect(result.stderr).toContain("stdin is open but silent");
    expect(server.requests[0]?.body.messages.at(-1).content).toBe("hi");
  });

  test("a missing key is told without reading it", async () => {
    const result = await runCli(["-p", "-"], { stdin: "open" });
    expect(result.code).toBe(2);
  });
});

test("an answer on the way is not on stdout before it is whole", async () => {
  const rest = gate();
  const event = (content: string) => `data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`;
  const end = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
  await using server = await startReplayServer([{ body: [event("one "), rest.opened, event("two"), end] }]);
  await using cli = startCli(["-p", "hi"], { env: at(server.url) });
  await server.request(0);
  expect(cli.stdout()).toBe("");
  rest.open();
  expect((await cli.exited).stdout).toBe("one two\n");
});
