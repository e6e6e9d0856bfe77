// What MCP servers have beside tools: prompts as slash commands, resources to read, and instructions.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { call, fromServers, runWithServers, writeConfig } from "../helpers/mcp-run.ts";
import { mcpServer } from "../helpers/mcp-server.ts";
import { makePng } from "../helpers/png.ts";
import { startPty } from "../helpers/pty.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { connect } from "../helpers/rpc-client.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { chatWire, reach } from "../helpers/wire.ts";

// Several programs each, on a machine that may be busy.
setDefaultTimeout(20_000);

const greet = {
  name: "greet",
  description: "Say hello",
  arguments: [{ name: "who", required: true }, { name: "how" }],
  text: "Say hello to {who}, {how}.",
};
const prompts = { s: mcpServer({ prompts: [greet, { name: "odd/name", text: "Odd." }] }) };
const hello = { turn: { text: "Hello." } };

/** The words of the user in the last request. */
const said = ({ requests }: { requests: readonly { body: { messages: { role: string; content: string }[] } }[] }) =>
  requests.at(-1)?.body.messages.findLast(({ role }) => role === "user")?.content;

describe("a prompt is a slash command", () => {
  test("of RPC mode, which lists it under a name that can be typed", async () => {
    await using dir = tmp();
    writeConfig(dir.path, prompts);
    await using setup = await connect([hello, hello], { home: dir.path });
    const { rpc } = setup;
    await rpc.prompt("/mcp__s__greet you warmly and long");
    expect(said(setup.server)).toBe("Say hello to you, warmly and long.");
    const { commands } = await rpc.ask("get_commands");
    const ours = commands.filter(({ name }) => name.startsWith("mcp__"));
    expect(ours).toMatchObject([
      { name: "mcp__s__greet", description: "Say hello", source: "prompt" },
      { name: expect.stringMatching(/^mcp__s__odd_name_[0-9a-f]{8}$/) },
    ]);
  });

  test("of a one-shot run, whose quotes keep words together and whose arguments can be named", async () => {
    await using dir = tmp();
    writeConfig(dir.path, prompts);
    await using model = await startReplayServer([hello]);
    const { code } = await runCli(["-p", '/mcp__s__greet how=loudly "all of you"'], {
      home: dir.path,
      env: reach(chatWire, model.url),
    });
    expect(code).toBe(0);
    expect(said(model)).toBe("Say hello to all of you, loudly.");
  });

  test("of the prompt, where /help names it and a missing argument is said", async () => {
    await using dir = tmp();
    writeConfig(dir.path, prompts);
    await using model = await startReplayServer([hello]);
    await using pty = await startPty([], { home: dir.path, env: reach(chatWire, model.url), cols: 120, rows: 60 });
    await pty.waitFor("> ");
    pty.write("/mcp__s__greet\r");
    await pty.waitFor("/mcp__s__greet needs who");
    // What could not be said is back in the line; Ctrl-C discards it.
    pty.write("\x03/help\r");
    await pty.waitFor("/mcp__s__greet");
    pty.write("/mcp__s__greet world\r");
    await pty.waitFor("Hello.");
    expect(said(model)).toBe("Say hello to world, .");
    pty.write("\x04");
    expect(await pty.exited()).toBe(0);
  });

  test("whose server refuses it is one error, and nothing is asked of the model", async () => {
    await using dir = tmp();
    writeConfig(dir.path, prompts);
    await using model = await startReplayServer([]);
    const { code, stderr } = await runCli(["-p", "/mcp__s__greet"], {
      home: dir.path,
      env: reach(chatWire, model.url),
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain("needs who");
    expect(model.requests).toHaveLength(0);
  });
});

describe("resources", () => {
  const image = Buffer.from(makePng(20, 10)).toString("base64");
  const servers = {
    notes: mcpServer({
      resources: [
        { uri: "note://today", name: "today", mimeType: "text/plain", text: "Buy milk." },
        { uri: "note://chart", name: "chart", mimeType: "image/png", blob: image },
        {
          uri: "note://zip",
          name: "zip",
          mimeType: "application/zip",
          blob: Buffer.from("x".repeat(999)).toString("base64"),
        },
      ],
    }),
    tools: mcpServer({ tools: [{ name: "echo" }] }),
  };

  test("are listed and read by two small tools", async () => {
    const { offered, told, requests } = await runWithServers({
      servers,
      turns: [
        [call("mcp__list_resources")],
        [
          call("mcp__read_resource", { server: "notes", uri: "note://today" }),
          call("mcp__read_resource", { server: "notes", uri: "note://chart" }),
          call("mcp__read_resource", { server: "notes", uri: "note://zip" }),
          call("mcp__read_resource", { server: "notes", uri: "note://gone" }),
          call("mcp__read_resource", { server: "tools", uri: "note://today" }),
        ],
      ],
    });
    expect(fromServers(offered)).toEqual(["mcp__list_resources", "mcp__read_resource", "mcp__tools__echo"]);
    const [list, text, , zip, gone, wrong] = told;
    for (const part of ["notes", "note://today", "note://chart", "application/zip"]) expect(list).toContain(part);
    expect(text).toContain("Buy milk.");
    expect(requests[2]?.text).toContain("data:image/png;base64,");
    expect(zip).toContain("999 bytes");
    expect(gone).toStartWith("Error: ");
    expect(gone).toContain("Resource not found");
    expect(wrong).toContain("those with some are notes");
  });

  test("are no tools when no server has any", async () => {
    const { offered } = await runWithServers({ servers: { tools: servers.tools } });
    expect(fromServers(offered)).toEqual(["mcp__tools__echo"]);
  });

  test("are read only after a yes, or by a rule", async () => {
    const turns = [[call("mcp__read_resource", { server: "notes", uri: "note://today" })]];
    const denied = await runWithServers({ servers, turns, flags: ["-p"] });
    expect(denied.told[0]).toStartWith("Error: denied: ");
    const allowed = await runWithServers({ servers, turns, flags: ["-p", "--allow", "mcp__read_resource"] });
    expect(allowed.told[0]).toContain("Buy milk.");
  });
});

test("what a server says of itself for the model is in the system prompt, of bounded length", async () => {
  const { requests } = await runWithServers({
    servers: { s: mcpServer({ instructions: `Ask in metric units. ${"x".repeat(100_000)}` }) },
  });
  const system: string = requests[0]?.body.messages[0].content;
  expect(system).toContain("Ask in metric units.");
  expect(system.length).toBeLessThan(30_000);
});
