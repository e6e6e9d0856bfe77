// What the tools of MCP servers are called towards the model, and that a call reaches the tool that is meant.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { call, fromServers, offeredIn, runWithServers, writeConfig } from "../helpers/mcp-run.ts";
import { mcpServer } from "../helpers/mcp-server.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { messagesWire, reach } from "../helpers/wire.ts";

// Several programs each, on a machine that may be busy.
setDefaultTimeout(20_000);

const long = "x".repeat(70);
const odd = [
  "calendar.create/event",
  long,
  `${long}y`,
  "größe-日本",
  "größe_日本",
  "a.b",
  "a_b",
  "a/b",
  "bash",
  "A_B",
  " ",
  "mcp__odd__a_b",
];
const servers = { odd: mcpServer({ tools: odd.map((name) => ({ name })) }) };

test("names with dots, slashes, other scripts or 70 characters become what every provider takes, unique, and lead back to their tools", async () => {
  const first = await runWithServers({ servers });
  const offered = fromServers(first.offered);
  expect(offered).toHaveLength(odd.length);
  expect(new Set(first.offered).size).toBe(first.offered.length);
  for (const name of offered) expect(name).toMatch(/^mcp__odd__[A-Za-z0-9_-]+$/);
  for (const name of offered) expect(name.length).toBeLessThanOrEqual(64);
  // The plain one keeps its name, whatever stands beside it.
  expect(offered).toContain("mcp__odd__a_b");
  expect(offered).toContain("mcp__odd__bash");

  // The user is told, once.
  expect(first.stderr.match(/names that providers refuse/g)).toHaveLength(1);

  // The same names in another process, and each of them is another tool.
  const second = await runWithServers({ servers, turns: [offered.map((name) => call(name))] });
  expect(fromServers(second.offered)).toEqual(offered);
  expect([...second.told].sort()).toEqual(odd.map((name) => `${name} {}`).sort());
});

test("a name does not depend on the tools beside it", async () => {
  const alone = await runWithServers({ servers: { odd: mcpServer({ tools: [{ name: "a.b" }] }) } });
  const all = await runWithServers({ servers });
  expect(fromServers(all.offered)).toContain(fromServers(alone.offered)[0]!);
});

test("a tool named bash is no way to the built-in one, whose place it does not take", async () => {
  const { told, offered } = await runWithServers({
    servers,
    turns: [[call("mcp__odd__bash", { command: "echo own" }), call("bash", { command: "echo built in" })]],
  });
  expect(told[0]).toBe('bash {"command":"echo own"}');
  expect(told[1]).toStartWith("built in\n");
  expect(offered.filter((name) => name === "bash")).toHaveLength(1);
});

test("servers whose names become the same keep their tools apart", async () => {
  const spec = (name: string) => mcpServer({ tools: [{ name, description: name }] });
  const first = await runWithServers({
    servers: { "my server": spec("x"), "my.server": spec("x"), my_server: spec("x") },
  });
  expect(new Set(fromServers(first.offered)).size).toBe(3);
});

test("the Messages API gets the same names", async () => {
  await using dir = tmp();
  writeConfig(dir.path, servers);
  await using model = await startReplayServer([{ turn: { text: "done" } }]);
  await runCli(["-p", "go"], { home: dir.path, env: reach(messagesWire, model.url) });
  const names: string[] = model.requests[0]?.body.tools.map(({ name }: { name: string }) => name);
  const chat = await runWithServers({ servers });
  expect(fromServers(names)).toEqual(fromServers(chat.offered));
});

describe("schemas", () => {
  const hostile = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    additionalProperties: false,
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
    properties: {
      node: { $ref: "#/$defs/node" },
      nullable: { type: ["string", "null"] },
      above: { type: "number", exclusiveMinimum: 0 },
      constant: { const: "x" },
      either: { oneOf: [{ type: "string" }, { type: "number" }] },
      link: { type: "string", format: "uri" },
      list: { type: "array" },
    },
    required: ["nullable"],
  };

  test("reach the model as the server gave them", async () => {
    const { requests } = await runWithServers({
      servers: { s: mcpServer({ tools: [{ name: "t", inputSchema: hostile }] }) },
    });
    const sent = requests[0]?.body.tools.find(
      ({ function: { name } }: { function: { name: string } }) => name === "mcp__s__t",
    );
    expect(sent.function.parameters.properties.nullable).toEqual({ type: ["string", "null"] });
    expect(sent.function.parameters.required).toEqual(["nullable"]);
  });

  test("are brought into the subset of a provider that takes no more", async () => {
    const { requests, stderr } = await runWithServers({
      servers: { s: mcpServer({ tools: [{ name: "t", inputSchema: hostile }, { name: "plain" }] }) },
      config: { providers: { openai: { tool_schema: "gemini" } } },
    });
    const names = fromServers(offeredIn(requests[0]));
    expect(names).toContain("mcp__s__plain");
    const sent = JSON.stringify(requests[0]?.body.tools);
    for (const word of ["$schema", "$defs", "$ref", "additionalProperties", "exclusiveMinimum", "const", "oneOf"])
      expect(sent).not.toContain(`"${word}"`);
    // Whoever is left out is named.
    if (!names.includes("mcp__s__t")) expect(stderr).toContain("mcp__s__t");
  });

  test("that are none take away their own tool, with a warning, and no other", async () => {
    const tools = [
      { name: "good" },
      { name: "none", inputSchema: null as unknown as Record<string, unknown> },
      { name: "text", inputSchema: "object" as unknown as Record<string, unknown> },
      { name: "array", inputSchema: { type: "array" } },
    ];
    const { offered, stderr, told } = await runWithServers({
      servers: { s: mcpServer({ tools }) },
      turns: [[call("mcp__s__good")]],
    });
    expect(told).toEqual(["good {}"]);
    expect(fromServers(offered)).toEqual(["mcp__s__good"]);
    expect(stderr).toMatch(/warning: .*none/);
  });

  test("are the server's to check: arguments go to it as the model gave them", async () => {
    const inputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const { told } = await runWithServers({
      servers: { s: mcpServer({ tools: [{ name: "t", inputSchema }] }) },
      turns: [[call("mcp__s__t", { n: "7", more: [1] })]],
    });
    expect(told).toEqual(['t {"n":"7","more":[1]}']);
  });
});
