// Calls of MCP tools that take long, are given up, or lose their server in the middle; and lists of tools that change.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { call, fromServers, offeredIn, runWithServers, writeConfig } from "../helpers/mcp-run.ts";
import { mcpServer, messagesIn, pidsIn } from "../helpers/mcp-server.ts";
import { startPty } from "../helpers/pty.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { connect } from "../helpers/rpc-client.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";
import { chatWire, reach } from "../helpers/wire.ts";

// Several programs each, on a machine that may be busy.
setDefaultTimeout(20_000);

const echo = { name: "echo" };
const hang = { name: "hang", act: { kind: "hang" } } as const;

const callsIn = (log: string) => messagesIn(log).filter(({ method }) => method === "tools/call");
const cancelsIn = (log: string) => messagesIn(log).filter(({ method }) => method === "notifications/cancelled");

describe("the time limit of a call", () => {
  test("ends one that is silent, says so to the model, and tells the server that it is cancelled", async () => {
    await using dir = tmp();
    const log = dir.file("log");
    const { told } = await runWithServers({
      servers: { s: { ...mcpServer({ log, tools: [hang, echo] }), call_timeout: 0.3 } },
      turns: [[call("mcp__s__hang"), call("mcp__s__echo")]],
    });
    expect(told[0]).toStartWith("Error: ");
    expect(told[0]).toContain("0.3 s");
    expect(told[1]).toBe("echo {}");
    expect(cancelsIn(log).map(({ params }) => params.requestId)).toEqual([callsIn(log)[0].id]);
  });

  test("begins anew with every sign of progress", async () => {
    const { told } = await runWithServers({
      servers: {
        s: {
          ...mcpServer({ tools: [{ name: "long", act: { kind: "progress", steps: 6, everyMs: 200 } }] }),
          call_timeout: 0.8,
        },
      },
      turns: [[call("mcp__s__long")]],
    });
    expect(told).toEqual(["long {}"]);
  });
});

test("progress is told to whoever watches", async () => {
  const { stdout } = await runWithServers({
    servers: { s: mcpServer({ tools: [{ name: "long", act: { kind: "progress", steps: 2, everyMs: 100 } }] }) },
    turns: [[call("mcp__s__long")]],
    flags: ["--mode", "json", "--yolo"],
  });
  const updates = stdout.split("\n").filter((line) => line.includes('"tool_execution_update"'));
  expect(updates[0]).toContain("1/2 step 1");
});

describe("an abort", () => {
  test("tells the server, ends the turn at once, and leaves the server for the next one", async () => {
    await using dir = tmp();
    const [log, pidFile] = [dir.file("log"), dir.file("pid")];
    writeConfig(dir.path, { s: mcpServer({ log, pidFile, tools: [hang, echo] }) });
    await using setup = await connect(
      [
        { turn: { calls: [call("mcp__s__hang")] } },
        { turn: { calls: [call("mcp__s__echo")] } },
        { turn: { text: "ok" } },
      ],
      { home: dir.path },
    );
    const { rpc } = setup;
    await rpc.ask("prompt", { message: "hi" });
    await waitUntil(() => callsIn(log).length === 1, "the tool is called");
    await rpc.ask("abort");
    await waitUntil(() => cancelsIn(log).length === 1, "the server is told");
    expect(cancelsIn(log)[0].params.requestId).toBe(callsIn(log)[0].id);
    await rpc.prompt("again");
    expect(setup.server.requests[2]?.body.messages.at(-1).content).toBe("echo {}");
    expect(pidsIn(pidFile)).toHaveLength(1);
  });

  test("by Ctrl-C in a terminal does not reach the server", async () => {
    await using dir = tmp();
    const [log, pidFile] = [dir.file("log"), dir.file("pid")];
    writeConfig(dir.path, { s: mcpServer({ log, pidFile, tools: [hang, echo] }) });
    await using model = await startReplayServer([
      { turn: { calls: [call("mcp__s__hang")] } },
      { turn: { calls: [call("mcp__s__echo")] } },
      { turn: { text: "it works" } },
    ]);
    await using pty = await startPty(["--yolo", "go"], { home: dir.path, env: reach(chatWire, model.url) });
    await waitUntil(() => callsIn(log).length === 1, "the tool is called", 10_000);
    pty.write("\x03");
    await waitUntil(() => cancelsIn(log).length === 1, "the server is told");
    await pty.waitFor("interrupted");
    pty.write("again\r");
    await pty.waitFor("it works");
    expect(pidsIn(pidFile)).toHaveLength(1);
    pty.write("\x04");
    expect(await pty.exited()).toBe(0);
  });
});

describe("a server that dies", () => {
  const die = (times?: number) =>
    ({ name: "die", act: { kind: "die", ...(times === undefined ? {} : { times }) } }) as const;

  test("in the middle of a call fails that call at once, with the end of what it said, and is started again for the next one", async () => {
    await using dir = tmp();
    const pidFile = dir.file("pid");
    const { told, code } = await runWithServers({
      servers: { s: mcpServer({ pidFile, stderr: ["out of memory"], tools: [die(1), echo] }) },
      turns: [[call("mcp__s__die")], [call("mcp__s__die"), call("mcp__s__echo")]],
    });
    expect(told[0]).toStartWith("Error: ");
    expect(told[0]).toContain("out of memory");
    expect(told.slice(1)).toEqual(["die {}", "echo {}"]);
    expect(pidsIn(pidFile)).toHaveLength(2);
    expect(code).toBe(0);
  });

  test("again after that is not started a second time, and its tools fail at once", async () => {
    await using dir = tmp();
    const pidFile = dir.file("pid");
    const { told, code } = await runWithServers({
      servers: { s: mcpServer({ pidFile, tools: [die(), echo] }), other: mcpServer({ tools: [echo] }) },
      turns: [
        [call("mcp__s__die")],
        [call("mcp__s__die")],
        [call("mcp__s__die"), call("mcp__s__echo"), call("mcp__other__echo")],
      ],
    });
    for (const text of told.slice(0, 4)) expect(text).toStartWith("Error: ");
    expect(told[4]).toBe("echo {}");
    expect(pidsIn(pidFile)).toHaveLength(2);
    expect(code).toBe(0);
  });
});

describe("a list of tools that changes", () => {
  test("counts from the next request on", async () => {
    const more = { name: "more", act: { kind: "become", tools: [echo, { name: "new" }] } } as const;
    const { requests, told } = await runWithServers({
      servers: { s: mcpServer({ tools: [more, { name: "old" }] }) },
      turns: [[call("mcp__s__more")], [call("mcp__s__new"), call("mcp__s__old")]],
    });
    expect(requests.map((request) => fromServers(offeredIn(request)))).toEqual([
      ["mcp__s__more", "mcp__s__old"],
      ["mcp__s__echo", "mcp__s__new"],
      ["mcp__s__echo", "mcp__s__new"],
    ]);
    expect(told[1]).toBe("new {}");
    expect(told[2]).toStartWith("Error: ");
  });

  test("does not change a request by one byte when it is the same list again", async () => {
    const again = { name: "b", act: { kind: "become", tools: [{ name: "a" }, { name: "b" }] } } as const;
    const { requests } = await runWithServers({
      servers: { s: mcpServer({ tools: [again, { name: "a" }] }) },
      turns: [[call("mcp__s__b")]],
    });
    expect(JSON.stringify(requests[1]?.body.tools)).toBe(JSON.stringify(requests[0]?.body.tools));
  });

  test("without end keeps no turn waiting", async () => {
    const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
    const started = performance.now();
    const { told } = await runWithServers({
      servers: { s: mcpServer({ chatter: [changed], tools: [echo] }) },
      turns: [[call("mcp__s__echo")], [call("mcp__s__echo")]],
    });
    expect(told).toEqual(["echo {}", "echo {}"]);
    expect(performance.now() - started).toBeLessThan(8000);
  });
});

test("what servers say on stderr goes to a private log file, never to the terminal", async () => {
  await using dir = tmp();
  const { stderr } = await runWithServers({
    home: dir.path,
    servers: { talker: mcpServer({ stderr: ["listening on nothing"], tools: [echo] }) },
    turns: [[call("mcp__talker__echo")]],
  });
  expect(stderr).not.toContain("listening on nothing");
  const [file] = [...new Bun.Glob("**/*talker*.log").scanSync({ cwd: dir.file(".pi-ts"), absolute: true })];
  expect(await Bun.file(file!).text()).toContain("listening on nothing");
  expect((await Bun.file(file!).stat()).mode & 0o777).toBe(0o600);
});

test("a server that floods stderr neither stops nor fills the disk", async () => {
  await using dir = tmp();
  const { told } = await runWithServers({
    home: dir.path,
    servers: { s: mcpServer({ floodsStderr: 40_000_000, tools: [echo] }) },
    turns: [[call("mcp__s__echo")]],
  });
  expect(told).toEqual(["echo {}"]);
  const sizes = [...new Bun.Glob("**/*.log").scanSync({ cwd: dir.file(".pi-ts"), absolute: true })].map(
    (file) => Bun.file(file).size,
  );
  expect(Math.max(...sizes)).toBeLessThan(20_000_000);
});
