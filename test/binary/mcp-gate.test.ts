// The gate in front of MCP tools, and what their servers get to know of the agent's environment.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { call, fromServers, runWithServers, writeConfig } from "../helpers/mcp-run.ts";
import { mcpServer, messagesIn } from "../helpers/mcp-server.ts";
import { startPty } from "../helpers/pty.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { connect } from "../helpers/rpc-client.ts";
import { tmp } from "../helpers/tmp.ts";
import { chatWire, reach, testKey } from "../helpers/wire.ts";

// Several programs each, on a machine that may be busy.
setDefaultTimeout(20_000);

const look = { name: "look", annotations: { readOnlyHint: true } };
const change = { name: "change", annotations: { readOnlyHint: false } };
const plain = { name: "plain" };
const server = mcpServer({ tools: [look, change, plain] });
const all = ["look", "change", "plain"].map((name) => `mcp__s__${name}`);

/** Calls every tool; gives the names of those that ran. */
async function ran(flags: string[], table: object = {}) {
  const result = await runWithServers({
    servers: { s: { ...server, ...table } },
    turns: [all.map((name) => call(name))],
    flags: ["-p", ...flags],
  });
  return {
    ...result,
    ran: all.filter((_, i) => !result.told[i]?.startsWith("Error: ")).map((name) => name.slice("mcp__s__".length)),
  };
}

describe("without a person to ask", () => {
  test("no tool of a server runs, and the denial names the rule that would allow it", async () => {
    const { ran: names, told, stderr, code } = await ran([]);
    expect(names).toEqual([]);
    expect(told[0]).toStartWith("Error: denied: mcp__s__look was not approved");
    expect(stderr).toContain("--allow 'mcp__s__look' allows it");
    expect(code).toBe(0);
  });

  test("a server's word that a tool only reads counts when the configuration says that it does", async () => {
    expect((await ran([], { trust_annotations: true })).ran).toEqual(["look"]);
    expect((await ran([], { trust_annotations: false })).ran).toEqual([]);
  });

  test.each([
    ["one tool", ["--allow", "mcp__s__plain"], ["plain"]],
    ["all of a server", ["--allow", "mcp__s__*"], ["look", "change", "plain"]],
    ["all but one, since deny counts more", ["--allow", "mcp__s__*", "--deny", "mcp__s__change"], ["look", "plain"]],
    ["none, not even with --yolo", ["--yolo", "--deny", "mcp__s__*"], []],
  ])("rules hold for %s", async (_, flags, expected) => {
    expect((await ran(flags)).ran).toEqual(expected);
  });
});

test("--tools and --exclude-tools hold for them too", async () => {
  const chosen = await ran(["--yolo", "--tools", "read,mcp__s__plain"]);
  expect(chosen.offered).toEqual(["read", "mcp__s__plain"]);
  expect(chosen.ran).toEqual(["plain"]);
  const without = await ran(["--yolo", "--exclude-tools", "mcp__s__*"]);
  expect(fromServers(without.offered)).toEqual([]);
  expect(without.ran).toEqual([]);
});

test("--read-only leaves of them only those whose word is trusted that they read", async () => {
  const untrusted = await ran(["--yolo", "--read-only"]);
  expect(untrusted.ran).toEqual([]);
  const trusted = await ran(["--yolo", "--read-only"], { trust_annotations: true });
  expect(trusted.ran).toEqual(["look"]);
});

test("a person is asked with the server, the tool and all arguments, control characters made visible", async () => {
  await using dir = tmp();
  writeConfig(dir.path, { s: server });
  await using model = await startReplayServer([
    { turn: { calls: [call("mcp__s__plain", { text: "a\u001b[2Kb", last: "the end" })] } },
    { turn: { text: "It ran." } },
  ]);
  await using pty = await startPty(["go"], { home: dir.path, env: reach(chatWire, model.url) });
  await pty.waitFor("mcp__s__plain");
  await pty.waitFor("the end");
  await pty.waitFor("[y/N/a or why not]");
  expect(pty.output).not.toContain("a\u001b[2Kb");
  pty.write("y\r");
  await pty.waitFor("It ran.");
  pty.write("\x04");
  expect(await pty.exited()).toBe(0);
});

test("a client is asked over RPC, and its no keeps the call from the server", async () => {
  await using dir = tmp();
  const log = dir.file("log");
  writeConfig(dir.path, { s: mcpServer({ log, tools: [plain] }) });
  await using setup = await connect(
    [{ turn: { calls: [call("mcp__s__plain", { a: "secret plan" })] } }, { turn: { text: "ok" } }],
    { home: dir.path },
    [],
  );
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "go" });
  const asked = await rpc.wait("extension_ui_request");
  expect(`${asked.title} ${asked.message}`).toContain("plain");
  expect(asked.message).toContain("secret plan");
  rpc.write(JSON.stringify({ type: "extension_ui_response", id: asked.id, confirmed: false }));
  await rpc.wait("agent_settled");
  expect(messagesIn(log).filter(({ method }) => method === "tools/call")).toEqual([]);
});

describe("a server's environment", () => {
  const env = { name: "env", act: { kind: "env" } } as const;
  const environment = async (table: object, options: Partial<Parameters<typeof runWithServers>[0]> = {}) => {
    const { told } = await runWithServers({
      servers: { s: { ...mcpServer({ tools: [env] }), ...table } },
      turns: [[call("mcp__s__env")]],
      ...options,
      env: { MY_OWN: "kept", ANTHROPIC_API_KEY: "sk-ant-0123456789", COPY: testKey, ...options.env },
    });
    return JSON.parse(told[0] ?? "") as Record<string, string>;
  };

  test("has no provider's key, neither by name nor by value, and everything else", async () => {
    const seen = await environment({});
    expect(seen.MY_OWN).toBe("kept");
    expect(seen.PATH).toBeString();
    expect(JSON.stringify(seen)).not.toContain(testKey);
    expect(JSON.stringify(seen)).not.toContain("sk-ant-0123456789");
  });

  test("has what its table names, keys included", async () => {
    const seen = await environment({ env: { OPENAI_API_KEY: "${OPENAI_API_KEY}", MODE: "test", MY_OWN: "changed" } });
    expect(seen).toMatchObject({ OPENAI_API_KEY: testKey, MODE: "test", MY_OWN: "changed" });
    expect(seen.ANTHROPIC_API_KEY).toBeUndefined();
  });

  test("does not hold the keys that servers are reached with", async () => {
    const seen = await environment(
      {},
      {
        servers: {
          s: mcpServer({ tools: [env] }),
          web: { url: "http://127.0.0.1:1/mcp", bearer_token_env: "DOCS_TOKEN", startup_timeout: 5 },
        },
        env: { DOCS_TOKEN: "docs-0123456789" },
      },
    );
    expect(JSON.stringify(seen)).not.toContain("docs-0123456789");
  });
});

test("a server runs in the agent's folder, or where its table says, relative to the file", async () => {
  await using dir = tmp();
  const where = mcpServer({ tools: [{ name: "cwd", act: { kind: "cwd" } }] });
  const { told } = await runWithServers({
    home: dir.path,
    cwd: dir.path,
    servers: { here: where, there: { ...where, cwd: "." } },
    turns: [[call("mcp__here__cwd"), call("mcp__there__cwd")]],
  });
  expect(told).toEqual([dir.path, dir.file(".pi-ts")]);
});
