// MCP servers and how they start, or fail to: none of them may hold up the agent for long, or silently.
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { call, fromServers, type McpRun, runWithServers, writeConfig } from "../helpers/mcp-run.ts";
import { mcpServer, messagesIn } from "../helpers/mcp-server.ts";
import { startPty } from "../helpers/pty.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { tmp } from "../helpers/tmp.ts";
import { chatWire, reach } from "../helpers/wire.ts";

// Several programs each, on a machine that may be busy.
setDefaultTimeout(20_000);

const echo = { name: "echo" };

describe("what a server prints that is no message", () => {
  const banner = [
    "Server running on stdio",
    '{"level":"info","message":"x"}',
    "[1]",
    "null",
    "",
    '{"jsonrpc":"1.0","id":0}',
  ];
  const noisy = mcpServer({ banner, chatter: ["about to answer", '{"level":"debug"}'], tools: [echo] });
  const turns = [[call("mcp__noisy__echo", { a: 1 })]];

  test("a banner and JSON that is no JSON-RPC on its stdout are passed over in silence", async () => {
    const result = await runWithServers({ servers: { noisy }, turns });
    expect(result.told).toEqual(['echo {"a":1}']);
    expect(result.stderr).not.toContain("Server running");
    expect(result.stderr).not.toContain("warning");
  });

  test("keeps neither the run nor its end from anything when it never ends", async () => {
    const { told, stderr, code } = await runWithServers({
      servers: { noisy, endless: { command: "yes", startup_timeout: 1 } },
      turns,
    });
    expect([code, told]).toEqual([0, ['echo {"a":1}']]);
    expect(stderr).toMatch(/warning: .*endless is left out/);
  });

  test("is said once to whoever looks for a fault", async () => {
    const { stderr } = await runWithServers({ servers: { noisy }, turns, env: { PI_TS_DEBUG: "1" } });
    expect(stderr.match(/prints lines that are no JSON-RPC/g)).toHaveLength(1);
    expect(stderr).toContain("Server running on stdio");
  });

  test("answers to nothing that was asked, and line ends of another system, are no trouble either", async () => {
    const stray = [
      '{"jsonrpc":"2.0","id":999,"result":{}}',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    ];
    const { told } = await runWithServers({
      servers: { noisy: mcpServer({ banner: stray, chatter: stray, lineEnd: "\r\n", tools: [echo] }) },
      turns,
    });
    expect(told).toEqual(['echo {"a":1}']);
  });
});

test("what a server asks is answered, so that it does not wait: a ping with a pong, all else with a no", async () => {
  await using dir = tmp();
  const log = dir.file("log");
  const asks = {
    name: "asks",
    act: { kind: "ask", methods: ["ping", "roots/list", "sampling/createMessage"] },
  } as const;
  const { told } = await runWithServers({
    servers: { s: mcpServer({ log, tools: [asks] }) },
    turns: [[call("mcp__s__asks")]],
  });
  expect(told).toEqual(["asks {}"]);
  const answers = messagesIn(log).filter(({ id }) => String(id).startsWith("ask "));
  expect(Object.fromEntries(answers.map(({ id, result, error }) => [id, result ?? error.code]))).toEqual({
    "ask ping": {},
    "ask roots/list": -32601,
    "ask sampling/createMessage": -32601,
  });
});

describe("several servers", () => {
  test("connect at the same time", async () => {
    await using dir = tmp();
    const [one, two] = [dir.file("one"), dir.file("two")];
    // Each reads only once the other one runs.
    const result = await runWithServers({
      servers: {
        one: mcpServer({ pidFile: one, waitsFor: two, tools: [echo] }),
        two: mcpServer({ pidFile: two, waitsFor: one, tools: [echo] }),
      },
    });
    expect(fromServers(result.offered)).toEqual(["mcp__one__echo", "mcp__two__echo"]);
  });

  test("are offered in an order and in bytes that do not depend on which was faster", async () => {
    const tools = [{ name: "zeta" }, { name: "alpha", inputSchema: { type: "object", properties: { b: {}, a: {} } } }];
    const [slow, fast] = [mcpServer({ initialize: 150, tools }), mcpServer({ tools })];
    const runs = [
      await runWithServers({ servers: { a: slow, b: fast } }),
      await runWithServers({ servers: { b: slow, a: fast } }),
    ];
    const [first, second] = runs.map(({ requests }) => JSON.stringify(requests[0]?.body.tools));
    expect(second).toBe(first!);
    expect(fromServers(runs[0]!.offered)).toHaveLength(4);
  });
});

describe("a server that does not come", () => {
  const broken: Readonly<Record<string, readonly [table: Record<string, unknown>, warning: RegExp]>> = {
    "whose command does not exist": [{ command: "nosuch-command" }, /nosuch-command is not in the PATH/],
    "that ends at once, with the end of what it said": [
      mcpServer({ stderr: ["one", "Cannot find module 'left-pad'"], exitCode: 1 }),
      /exit code 1.*Cannot find module 'left-pad'/s,
    ],
    "that never answers, with the end of what it said": [
      { command: "sh", args: ["-c", "echo still downloading >&2; exec sleep 300"], startup_timeout: 0.4 },
      /within 0\.4 s.*still downloading/s,
    ],
    "that reads and never answers": [
      { ...mcpServer({ initialize: "never" }), startup_timeout: 0.5 },
      /within 0\.5 s \(startup_timeout\)/,
    ],
    "that answers too late": [{ ...mcpServer({ initialize: 40_000 }), startup_timeout: 0.3 }, /within 0\.3 s/],
    "that speaks another protocol": [mcpServer({ protocolVersion: "2099-01-01" }), /2099-01-01/],
    "that refuses": [mcpServer({ initialize: "refuse" }), /not today/],
  };
  let run: McpRun;

  beforeAll(async () => {
    const servers = Object.entries(broken).map(([name, [table]]) => [name.split(",")[0], table]);
    run = await runWithServers({
      servers: { ...Object.fromEntries(servers), good: mcpServer({ tools: [echo] }) },
      turns: [[call("mcp__good__echo")]],
    });
  });

  test.each(Object.entries(broken))("is one warning: one %s", (name, [, warning]) => {
    const [, ...told] = run.stderr.split(`warning: The MCP server ${name.split(",")[0]} is left out: `);
    expect(told).toHaveLength(1);
    expect(told[0]?.split("warning: ")[0]).toMatch(warning);
  });

  test("does not keep the run from going on with the others", () => {
    expect(run.told).toEqual(["echo {}"]);
    expect([run.stdout, run.code]).toEqual(["done\n", 0]);
    expect(run.stderr.match(/warning: /g)).toHaveLength(Object.keys(broken).length);
  });

  test("ends the run before any request when it is required", async () => {
    const result = await runWithServers({
      servers: { needed: { ...mcpServer({ stderr: ["no database"], exitCode: 1 }), required: true } },
    });
    expect(result.code).toBe(1);
    expect(result.requests).toHaveLength(0);
    expect(result.stdout).toBe("");
    expect(result.stderr).toContain("needed");
    expect(result.stderr).toContain("no database");
  });

  test("keeps neither the prompt from appearing, nor the program from leaving", async () => {
    await using setup = await startPromptWithSlowServer();
    await setup.pty.waitFor("> ");
    setup.pty.write("\x04");
    expect(await setup.pty.exited()).toBe(0);
  });

  test("is waited for by the first task of a prompt, which Ctrl-C ends", async () => {
    await using setup = await startPromptWithSlowServer();
    const { pty, model } = setup;
    await pty.waitFor("> ");
    pty.write("hi\r");
    await pty.waitFor("waiting for MCP servers  1 s");
    await pty.waitFor("Waiting for MCP servers to start: slow");
    pty.write("\x03");
    await pty.waitFor("interrupted");
    expect(model.requests).toHaveLength(0);
    // The task is back in the line; Ctrl-C discards it.
    await pty.waitFor("> hi");
    pty.write("\x03\x04");
    expect(await pty.exited()).toBe(0);
  });
});

async function startPromptWithSlowServer() {
  const dir = tmp();
  writeConfig(dir.path, { slow: { ...mcpServer({ initialize: "never" }), startup_timeout: 600 } });
  const model = await startReplayServer([]);
  const pty = await startPty([], { home: dir.path, env: reach(chatWire, model.url) });
  return {
    model,
    pty,
    async [Symbol.asyncDispose]() {
      await pty[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

describe("which servers start", () => {
  test("none that is not enabled, and none with --no-mcp", async () => {
    await using dir = tmp();
    const pidFile = dir.file("pid");
    const off = await runWithServers({
      servers: { off: { ...mcpServer({ pidFile, tools: [echo] }), enabled: false } },
    });
    const none = await runWithServers({
      servers: { on: mcpServer({ pidFile, tools: [echo] }) },
      flags: ["-p", "--yolo", "--no-mcp"],
    });
    expect([...fromServers(off.offered), ...fromServers(none.offered)]).toEqual([]);
    expect(existsSync(pidFile)).toBe(false);
  });

  test("a server's tools can be chosen and left out", async () => {
    const tools = ["a", "b", "c"].map((name) => ({ name }));
    const { offered } = await runWithServers({
      servers: {
        chosen: { ...mcpServer({ tools }), tools: ["a", "c"] },
        without: { ...mcpServer({ tools }), exclude_tools: ["a", "c"] },
        both: { ...mcpServer({ tools }), tools: ["a", "b"], exclude_tools: ["a"] },
      },
    });
    expect(fromServers(offered)).toEqual(["mcp__both__b", "mcp__chosen__a", "mcp__chosen__c", "mcp__without__b"]);
  });
});

describe("lists in pages", () => {
  test("are read to their end", async () => {
    const tools = Array.from({ length: 7 }, (_, i) => ({ name: `t${i}` }));
    const { offered } = await runWithServers({ servers: { paged: mcpServer({ tools, pageSize: 2 }) } });
    expect(fromServers(offered)).toEqual(tools.map(({ name }) => `mcp__paged__${name}`));
  });

  test("that name the same next page for ever are stopped, and what came is kept once", async () => {
    const result = await runWithServers({ servers: { loops: mcpServer({ tools: [echo], repeatsCursor: true }) } });
    expect(fromServers(result.offered)).toEqual(["mcp__loops__echo"]);
  });
});
