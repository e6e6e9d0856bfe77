// The processes of MCP servers: whatever way the agent ends, none of them is left behind.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { call, runWithServers, writeConfig } from "../helpers/mcp-run.ts";
import { mcpServer, messagesIn, pidsIn, type StdioServerSpec } from "../helpers/mcp-server.ts";
import { isAtWork } from "../helpers/process-runs.ts";
import { startPty } from "../helpers/pty.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { connect } from "../helpers/rpc-client.ts";
import { binaryPath, cleanEnv, runCli, startCli } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";
import { chatWire, reach } from "../helpers/wire.ts";

// Several programs each, on a machine that may be busy.
const patience = 20_000;
setDefaultTimeout(patience);

const hang = { name: "hang", act: { kind: "hang" } } as const;

/**
 * Two servers that do not want to go: one ignores the end of its input and all signals it can, has two helpers beside it, one of
 * them in a session of its own, and is wrapped in a shell that waits for it; the other is only wrapped. Six processes in all.
 */
function clingingServers(dir: TmpDir) {
  const wrapped = (spec: StdioServerSpec, before: string) => {
    const { command, args } = mcpServer(spec);
    const words = [command, ...args].map((word) => `'${word}'`).join(" ");
    return { command: "sh", args: ["-c", `echo $$ >> '${dir.file("pids")}'; ${before} ${words}; :`] };
  };
  const pidFile = dir.file("pids");
  return {
    servers: {
      stubborn: wrapped(
        { stubborn: true, pidFile, log: dir.file("log"), tools: [hang] },
        `sleep 300 & echo $! >> '${pidFile}'; setsid sleep 300 & echo $! >> '${pidFile}';`,
      ),
      wrapped: wrapped({ pidFile, tools: [hang] }, ""),
    },
    pids: () => pidsIn(pidFile),
    left: () => pidsIn(pidFile).filter(isAtWork),
    /** Resolves when the tool that hangs has been called. */
    called: () => waitUntil(() => hasCall(dir), "the tool is called", patience),
  };
}

function hasCall(dir: TmpDir): boolean {
  return messagesIn(dir.file("log")).some(({ method }) => method === "tools/call");
}

const calls = [{ turn: { calls: [call("mcp__stubborn__hang")] } }];

describe("of servers that ignore their input's end and SIGTERM, are wrapped in a shell, or have helpers, none is left", () => {
  test.concurrent("after a run that ended well", async () => {
    await using dir = tmp();
    const { servers, pids, left } = clingingServers(dir);
    const { code } = await runWithServers({ servers });
    expect([code, pids().length, left()]).toEqual([0, 6, []]);
  });

  test.concurrent.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("after %s in the middle of a call, with the exit code %i", async (signal, exitCode) => {
    await using dir = tmp();
    const { servers, pids, left, called } = clingingServers(dir);
    const { code } = await runWithServers({
      servers,
      turns: [[call("mcp__stubborn__hang")]],
      signalWhen: { when: called(), signal },
    });
    expect([code, pids().length, left()]).toEqual([exitCode, 6, []]);
  });
});

test("a server that does not want to go ends with the agent even when that is killed", async () => {
  await using dir = tmp();
  const pidFile = dir.file("pid");
  const server = mcpServer({ stubborn: true, pidFile, log: dir.file("log"), tools: [hang] });
  writeConfig(dir.path, { stubborn: server });
  await using model = await startReplayServer(calls);
  await using cli = startCli(["-p", "--yolo", "go"], { home: dir.path, env: reach(chatWire, model.url) });
  await waitUntil(() => hasCall(dir), "the tool is called");
  cli.kill("SIGKILL");
  await waitUntil(() => !pidsIn(pidFile).some(isAtWork), "the server has ended");
});

describe("none of them is left either", () => {
  test.concurrent("after two signals, of which the second ends everything at once", async () => {
    await using dir = tmp();
    const { servers, pids, left, called } = clingingServers(dir);
    writeConfig(dir.path, servers);
    await using model = await startReplayServer(calls);
    await using cli = startCli(["-p", "--yolo", "go"], { home: dir.path, env: reach(chatWire, model.url) });
    await called();
    cli.kill("SIGTERM");
    cli.kill("SIGTERM");
    await cli.exited;
    await waitUntil(() => left().length === 0, "none is left", 1000);
    expect(pids()).toHaveLength(6);
  });

  test.concurrent("after a signal while one is still starting", async () => {
    await using dir = tmp();
    const pidFile = dir.file("pid");
    const server = mcpServer({ stubborn: true, pidFile, initialize: "never" });
    const run = await runWithServers({
      servers: { slow: { ...server, startup_timeout: 60 } },
      signalWhen: { when: waitUntil(() => existsSync(pidFile), "it has started", patience), signal: "SIGTERM" },
    });
    expect([run.code, pidsIn(pidFile).filter(isAtWork)]).toEqual([143, []]);
  });

  test.concurrent("after the terminal was closed", async () => {
    await using dir = tmp();
    const { servers, pids, left, called } = clingingServers(dir);
    writeConfig(dir.path, servers);
    await using model = await startReplayServer(calls);
    const shell = Bun.spawn(["bash", "-c", '"$0" --yolo go', binaryPath()], {
      env: cleanEnv(dir.path, reach(chatWire, model.url)),
      cwd: dir.path,
      terminal: { cols: 80, rows: 24, data() {} },
    });
    await called();
    shell.terminal?.close();
    await waitUntil(() => left().length === 0, "none is left", patience);
    expect(pids()).toHaveLength(6);
    await shell.exited;
  });

  test.concurrent("after the prompt was left", async () => {
    await using dir = tmp();
    const { servers, pids, left } = clingingServers(dir);
    writeConfig(dir.path, servers);
    await using model = await startReplayServer([]);
    await using pty = await startPty([], { home: dir.path, env: reach(chatWire, model.url), timeout: patience });
    await waitUntil(() => pids().length === 6, "all have started", patience);
    pty.write("\x04");
    expect([await pty.exited(), left()]).toEqual([0, []]);
  });
});

test("each server has a process group of its own, and one that died is reaped", async () => {
  await using dir = tmp();
  const [one, two] = [dir.file("one"), dir.file("two")];
  const die = { name: "die", act: { kind: "die" } } as const;
  writeConfig(dir.path, {
    one: mcpServer({ pidFile: one, tools: [die] }),
    two: mcpServer({ pidFile: two, tools: [hang] }),
  });
  await using setup = await connect([{ turn: { calls: [call("mcp__one__die")] } }, { turn: { text: "It died." } }], {
    home: dir.path,
  });
  const { rpc } = setup;
  await rpc.ask("get_state");
  await waitUntil(() => pidsIn(one).length === 1 && pidsIn(two).length === 1, "both have started");
  const [first] = [...pidsIn(one), ...pidsIn(two)].map((pid) => ({ pid, group: groupOf(pid) }));
  const groups = [rpc.pid, ...pidsIn(one), ...pidsIn(two)].map(groupOf);
  expect(new Set(groups).size).toBe(3);
  await rpc.prompt("go");
  await waitUntil(() => !existsSync(`/proc/${first!.pid}`), "the dead server is reaped");
});

describe("nor is one", () => {
  test.concurrent("in RPC mode when stdin ends", async () => {
    await using dir = tmp();
    const { servers, pids, left } = clingingServers(dir);
    writeConfig(dir.path, servers);
    await using setup = await connect([{ turn: { text: "Hello." } }], { home: dir.path });
    await setup.rpc.prompt("hi");
    setup.rpc.end();
    expect([await setup.rpc.exited, pids().length, left()]).toEqual([0, 6, []]);
  });

  test.concurrent("after `mcp check`", async () => {
    await using dir = tmp();
    const { servers, pids, left } = clingingServers(dir);
    writeConfig(dir.path, servers);
    const { code } = await runCli(["mcp", "check"], { home: dir.path });
    expect([code, pids().length, left()]).toEqual([0, 6, []]);
  });
});

/** The process group of a process, from `/proc`. */
function groupOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
}
