// RPC mode: how it ends. Stdin's end and a first SIGTERM or SIGHUP let the prompt finish, SIGINT aborts it, a second signal ends everything at once.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { textDelta } from "../helpers/chat-stream.ts";
import { runs } from "../helpers/process-runs.ts";
import { gate, type Reply, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { connect, startRpc } from "../helpers/rpc-client.ts";
import { binaryPath, cleanEnv, createPlace, runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const hello: Reply = { turn: { text: "Hello." } };
const bash = (command: string): Reply => ({ turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }] } });
const end = ['data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', "data: [DONE]\n\n"];

describe("stdin's end", () => {
  test("lets the running prompt finish, and everything is written", async () => {
    const { opened, open } = gate();
    await using setup = await connect([{ body: [textDelta("half"), opened, textDelta(" whole"), ...end] }]);
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "hi" });
    await rpc.wait("message_update");
    rpc.end();
    open();
    expect(await rpc.exited).toBe(0);
    expect(rpc.records.at(-1)).toEqual({ type: "agent_settled", aborted: false });
    expect(JSON.stringify(rpc.records.at(-3))).toContain("half whole");
  });

  test("counts for a command that is the whole input, without a line break behind it", async () => {
    await using server = await startReplayServer([hello]);
    const { stdout, code } = await runCli(["--mode", "rpc"], {
      env: { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: server.url },
      stdin: { text: '{"id":"1","type":"prompt","message":"hi"}' },
    });
    expect(stdout).toContain('"text":"Hello."');
    expect(stdout.trimEnd().split("\n").at(-1)).toBe('{"type":"agent_settled","aborted":false}');
    expect(code).toBe(0);
  });

  test("lets a command of the client's finish", async () => {
    await using setup = await connect([]);
    const { rpc } = setup;
    rpc.write('{"id":"b","type":"bash","command":"echo one; sleep 0.3; echo two"}');
    await rpc.wait("bash_execution_update");
    rpc.end();
    expect(await rpc.exited).toBe(0);
    expect(rpc.records.at(-1)).toMatchObject({ id: "b", data: { output: "one\ntwo\n" } });
  });

  test("gives the code of the last prompt", async () => {
    await using setup = await connect([hello, refusal(400, { error: { message: "no" } })]);
    const { rpc } = setup;
    await rpc.prompt("good");
    await rpc.prompt("bad");
    rpc.end();
    expect(await rpc.exited).toBe(1);
  });

  test.each([
    ["an empty pipe", '"$0" --mode rpc < <(true)'],
    ["a closed stdin", '"$0" --mode rpc <&-'],
  ])("before any command is told: %s", async (_name, script) => {
    const { home, cwd, dir } = createPlace({});
    await using _ = dir;
    const env = cleanEnv(home, { ANTHROPIC_API_KEY: "sk-x" });
    const rpc = Bun.spawn(["bash", "-c", script, binaryPath()], { cwd, env, stdout: "pipe", stderr: "pipe" });
    expect([await rpc.exited, await rpc.stdout.text()]).toEqual([0, ""]);
    expect(await rpc.stderr.text()).toContain("stdin ended before any command came");
  });

  test("is not told of one that cannot be read, which is an error", async () => {
    const { home, cwd, dir } = createPlace({});
    await using _ = dir;
    const env = cleanEnv(home, { ANTHROPIC_API_KEY: "sk-x" });
    const rpc = Bun.spawn(["bash", "-c", '"$0" --mode rpc < /', binaryPath()], { cwd, env, stderr: "pipe" });
    expect(await rpc.exited).toBe(1);
    const stderr = await rpc.stderr.text();
    expect(stderr).toContain("stdin cannot be read");
    expect(stderr).not.toContain("ended before");
  });
});

describe("a signal", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s lets the running prompt finish, tells it, and exits with %i", async (signal, code) => {
    const { opened, open } = gate();
    await using setup = await connect([{ body: [textDelta("half"), opened, textDelta(" whole"), ...end] }]);
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "hi" });
    await rpc.wait("message_update");
    // A client's own command has no end of its own, so its end tells that the signal has come.
    rpc.write('{"id":"b","type":"bash","command":"echo begun; sleep 300"}');
    await rpc.wait("bash_execution_update");
    rpc.kill(signal);
    const ended = await rpc.wait(({ id, type }) => id === "b" && type === "response");
    expect(ended).toMatchObject({ data: { output: "begun\n", cancelled: true } });
    rpc.write('{"id":"late","type":"get_state"}');
    open();
    expect(await rpc.exited).toBe(code);
    expect(rpc.records.at(-1)).toEqual({ type: "agent_settled", aborted: false });
    expect(JSON.stringify(rpc.records.at(-3))).toContain("half whole");
    expect(rpc.records.some(({ id }) => id === "late")).toBe(false);
  });

  test.each(["SIGTERM", "SIGHUP", "SIGINT"] as const)(
    "after a first one, %s ends everything at once",
    async (second) => {
      await using dir = tmp();
      await using setup = await connect([bash("echo $$ > pid; echo begun; sleep 300")], { cwd: dir.path });
      const { rpc } = setup;
      await rpc.ask("prompt", { message: "hi" });
      await rpc.wait((record) => JSON.stringify(record).includes('"begun\\n"'));
      rpc.write('{"id":"b","type":"bash","command":"echo mine; sleep 300"}');
      await rpc.wait("bash_execution_update");
      rpc.kill("SIGHUP");
      await rpc.wait(({ id, type }) => id === "b" && type === "response");
      expect(runs(dir.file("pid"))).toBe(true);
      rpc.kill(second);
      expect(await rpc.exited).toBe(129);
      expect(rpc.records.some(({ type }) => type === "agent_settled")).toBe(false);
      await waitUntil(() => !runs(dir.file("pid")), "the tool has ended");
    },
  );

  test("and a SIGKILL of a client that does not wait leave no command behind, nor what began in between", async () => {
    await using dir = tmp();
    const script = [
      bash("echo begun; until test -e go; do sleep 0.05; done"),
      bash("echo $$ > pid; sleep 300 & echo $! > child; echo second; wait"),
    ];
    await using setup = await connect(script, { cwd: dir.path });
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "hi" });
    await rpc.wait((record) => JSON.stringify(record).includes('"begun\\n"'));
    rpc.write('{"id":"b","type":"bash","command":"echo mine; sleep 300"}');
    await rpc.wait("bash_execution_update");
    rpc.kill("SIGTERM");
    await rpc.wait(({ id, type }) => id === "b" && type === "response");
    await Bun.write(dir.file("go"), "");
    await rpc.wait((record) => JSON.stringify(record).includes('"second\\n"'));
    rpc.kill("SIGKILL");
    await waitUntil(() => !runs(dir.file("pid")) && !runs(dir.file("child")), "the second command has ended");
  });

  test("SIGINT aborts what runs, tells it, and exits with 130", async () => {
    await using dir = tmp();
    await using setup = await connect([bash("echo $$ > pid; echo begun; sleep 300")], { cwd: dir.path });
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "hi" });
    await rpc.wait((record) => JSON.stringify(record).includes('"begun\\n"'));
    rpc.kill("SIGINT");
    expect(await rpc.exited).toBe(130);
    expect(rpc.records.at(-1)).toEqual({ type: "agent_settled", aborted: true });
    expect(runs(dir.file("pid"))).toBe(false);
  });

  test("is a no to what is asked", async () => {
    await using setup = await connect([bash("echo ran"), hello], {}, []);
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "hi" });
    await rpc.wait("extension_ui_request");
    rpc.kill("SIGTERM");
    expect(await rpc.exited).toBe(143);
    expect(rpc.records.at(-1)).toMatchObject({
      type: "agent_settled",
      aborted: false,
      deniedCalls: [{ toolName: "bash" }],
    });
  });

  test("together with stdin's end is safe", async () => {
    await using dir = tmp();
    await using setup = await connect([bash("echo begun; until test -e go; do sleep 0.05; done"), hello], {
      cwd: dir.path,
    });
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "hi" });
    await rpc.wait((record) => JSON.stringify(record).includes('"begun\\n"'));
    rpc.end();
    rpc.kill("SIGTERM");
    await Bun.write(dir.file("go"), "");
    expect(await rpc.exited).toBe(143);
    expect(rpc.records.at(-1)).toEqual({ type: "agent_settled", aborted: false });
  });

  test("when nothing runs ends it", async () => {
    await using setup = await connect([]);
    await setup.rpc.ask("get_state");
    setup.rpc.kill("SIGTERM");
    expect(await setup.rpc.exited).toBe(143);
  });
});

describe("a client that does not read", () => {
  test("costs no memory beyond a bound, holds up its own commands alone, and can abort all the same", async () => {
    await using dir = tmp();
    const tool = "echo $$ > pid; yes x | head -c 40000000; echo over > over; sleep 300";
    await using setup = await connect([bash(tool)], { cwd: dir.path, unread: true });
    const { rpc } = setup;
    const flood = "yes 'a line of some length that is printed again and again' | head -c 40000000; echo over > all";
    rpc.write(JSON.stringify({ id: "b", type: "bash", command: flood }));
    rpc.write('{"id":"p","type":"prompt","message":"hi"}');
    await waitUntil(() => existsSync(dir.file("over")), "the model's command has printed everything", 15_000);
    expect(existsSync(dir.file("all"))).toBe(false);
    expect(await peakMemory(rpc.pid)).toBeLessThan(250);
    rpc.write('{"id":"a","type":"abort"}');
    await waitUntil(() => !runs(dir.file("pid")), "the abort has ended the tool");
    rpc.read();
    await rpc.wait(({ id }) => id === "a");
    expect(rpc.records.filter(({ type }) => type === "agent_settled")).toEqual([
      { type: "agent_settled", aborted: true },
    ]);
    expect(rpc.records.find(({ id, type }) => id === "b" && type === "response")).toMatchObject({
      data: { cancelled: true },
    });
    const written = rpc.records.reduce((sum, record) => sum + JSON.stringify(record).length, 0);
    expect(written).toBeLessThan(10_000_000);
  }, 30_000);

  test("does not keep a signal from ending it", async () => {
    await using rpc = startRpc([], { env: { ANTHROPIC_API_KEY: "sk-x" }, unread: true });
    rpc.write('{"type":"get_state"}\n'.repeat(1000));
    rpc.write('{"id":"b","type":"bash","command":"echo $$ > here; sleep 300"}');
    await waitUntil(() => Bun.file(`${rpc.cwd}/here`).size > 0, "the command runs", 10_000);
    rpc.kill("SIGTERM");
    await waitUntil(() => !isThere(rpc.pid), "it has ended", 10_000);
  }, 30_000);

  test("does not keep a signal from ending it while a prompt waits for the client to read", async () => {
    await using dir = tmp();
    await using server = await startReplayServer([]);
    const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-x", PI_BASE_URL: server.url };
    await using rpc = startRpc([], { env, cwd: dir.path, unread: true });
    rpc.write('{"type":"get_state"}\n'.repeat(2000));
    rpc.write('{"id":"p","type":"prompt","message":"hi"}');
    rpc.write('{"id":"b","type":"bash","command":"echo > begun"}');
    await waitUntil(() => existsSync(dir.file("begun")), "the prompt has begun", 10_000);
    rpc.kill("SIGTERM");
    await waitUntil(() => !isThere(rpc.pid), "it has ended", 10_000);
    expect(server.requests).toEqual([]);
  }, 30_000);
});

/** Megabytes. */
async function peakMemory(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
