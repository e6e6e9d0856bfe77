import { describe, expect, test } from "bun:test";
import { type McpSource, type McpTable, mcpDefaults, resolveMcpServers } from "../../src/config/mcp.ts";

const env = { HOME: "/home/me", TOKEN: "token-0123456789", EMPTY: "" };

function source(servers: Record<string, McpTable>, scope: McpSource["scope"] = "user"): McpSource {
  return { path: `/${scope}/file`, scope, servers };
}

function one(table: McpTable) {
  const [server] = resolveMcpServers([source({ s: table })], env);
  return server!;
}

test("what a table leaves out has a default", () => {
  expect(one({ command: "x" })).toEqual({
    name: "s",
    source: "/user/file",
    scope: "user",
    transport: { kind: "stdio", command: "x", args: [], env: {}, cwd: undefined },
    problem: undefined,
    tools: undefined,
    excludeTools: [],
    startupMs: mcpDefaults.startupSeconds * 1000,
    callMs: mcpDefaults.callSeconds * 1000,
    required: false,
    enabled: true,
    trustAnnotations: false,
    secrets: [],
  });
});

test("a time of 0 is no limit, which a timer can still take", () => {
  const { startupMs, callMs } = one({ command: "x", startup_timeout: 0, call_timeout: 1e12 });
  expect([startupMs, callMs]).toEqual([2 ** 31 - 1, 2 ** 31 - 1]);
});

describe("variables of the environment", () => {
  test.each([
    ["a whole value", "$TOKEN", "token-0123456789"],
    ["with braces, anywhere", "a-${TOKEN}-b", "a-token-0123456789-b"],
    ["a default for one that is not set", "${NONE:-d}", "d"],
    ["a default for an empty one", "${EMPTY:-d}", "d"],
    ["an empty default", "${NONE:-}", ""],
    ["no variable without braces inside a text", "cost: $TOKEN", "cost: $TOKEN"],
    ["a dollar alone", "$", "$"],
  ])("are filled in: %s", (_, text, expected) => {
    const { transport } = one({ command: "x", args: [text], env: { A: text } });
    expect(transport).toMatchObject({ args: [expected], env: { A: expected } });
  });

  test("are told apart from what may be shown", () => {
    expect(one({ command: "x", args: ["${TOKEN}", "${NONE:-plain}"] }).secrets).toEqual(["token-0123456789"]);
  });

  test("of which paths are made are no secrets", () => {
    expect(one({ command: "x", args: ["${HOME}/notes"] }).secrets).toEqual([]);
  });

  test("that are not set are a problem that names the key and the variable", () => {
    expect(one({ command: "x", args: ["a", "${NONE}"] }).problem).toBe("args[1]: $NONE is not set");
    expect(one({ url: "http://x", headers: { A: "$NONE" } }).problem).toBe("headers.A: $NONE is not set");
    expect(one({ url: "http://x", bearer_token_env: "EMPTY" }).problem).toBe("bearer_token_env: $EMPTY is not set");
  });
});

test("a token becomes a header", () => {
  expect(one({ url: "https://x/mcp", bearer_token_env: "TOKEN", headers: { "x-a": "b" } }).transport).toEqual({
    kind: "http",
    url: "https://x/mcp",
    headers: { "x-a": "b", Authorization: "Bearer token-0123456789" },
  });
});

test.each([
  ["no way", {}, "neither a command nor a url"],
  ["two ways", { command: "x", url: "http://x" }, "both a command and a url"],
  ["an empty command", { command: " " }, "empty"],
  ["a line as a command", { command: "npx -y server" }, "args"],
  ["no URL", { url: "docs" }, "not an http or https URL"],
  ["another protocol", { url: "ws://x" }, "not an http or https URL"],
  ["a header with a line break", { url: "http://x", headers: { a: "b\r\nc: d" } }, "headers.a"],
])("a table with %s is a problem of that server", (_, table: McpTable, problem) => {
  const server = one(table);
  expect(server.transport).toBeUndefined();
  expect(server.problem).toContain(problem);
});

test("a program in a folder whose name has a space is no whole line", () => {
  expect(one({ command: "/opt/my tools/server" }).problem).toBeUndefined();
});

test("paths are relative to the file, or to the home", () => {
  expect(one({ command: "~/bin/x", cwd: "sub" }).transport).toMatchObject({ cwd: "/user/sub" });
});

describe("several files", () => {
  test("the first that says how a server is reached defines it whole", () => {
    const [server] = resolveMcpServers(
      [source({ s: { command: "flag" } }, "temporary"), source({ s: { command: "own", args: ["a"] } })],
      env,
    );
    expect(server).toMatchObject({ scope: "temporary", transport: { command: "flag", args: [] } });
  });

  test("a table that does not say so changes what it names", () => {
    const [server] = resolveMcpServers(
      [source({ s: { enabled: false } }, "project"), source({ s: { command: "own", required: true } })],
      env,
    );
    expect(server).toMatchObject({ scope: "user", enabled: false, required: true, transport: { command: "own" } });
  });

  test("the servers of the first come first", () => {
    const servers = resolveMcpServers(
      [source({ b: { command: "x" } }), source({ a: { command: "x" }, b: { command: "y" } })],
      env,
    );
    expect(servers.map(({ name }) => name)).toEqual(["b", "a"]);
  });

  test("names of Object's own are names like any other", () => {
    const servers = resolveMcpServers(
      [source({ constructor: { command: "x" } }), source({ toString: { command: "y" } } as never)],
      env,
    );
    expect(servers.map(({ transport }) => transport)).toMatchObject([{ command: "x" }, { command: "y" }]);
  });
});

test.each([
  [{ command: "x", env: { API_KEY: "k-0123", LOG: "warn" } }, ["k-0123"]],
  [{ url: "http://x/mcp", headers: { Authorization: "Bearer t-0123", Accept: "a" } }, ["Bearer t-0123", "t-0123"]],
  [{ url: "http://u:pass@x/mcp?api_key=k-0123&page=1" }, ["k-0123", "pass"]],
])("what is written down under the name of a secret is one: %j", (table, secrets) => {
  expect(one(table).secrets).toEqual(secrets);
});
