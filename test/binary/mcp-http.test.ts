// MCP servers over streamable HTTP.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { startMcpHttpServer } from "../helpers/mcp-http-server.ts";
import { call, fromServers, offeredIn, runWithServers } from "../helpers/mcp-run.ts";
import { mcpServer } from "../helpers/mcp-server.ts";

// Several programs each, on a machine that may be busy.
setDefaultTimeout(20_000);

const echo = { name: "echo" };
const token = "token-0123456789abcdef";

describe.each([
  ["event streams", false],
  ["JSON documents", true],
])("a server that answers with %s", (_, json) => {
  test("is connected, called in one session, and told when that ends", async () => {
    await using server = startMcpHttpServer({ json, tools: [echo] });
    const { told, stderr } = await runWithServers({
      servers: { web: { url: server.url } },
      turns: [[call("mcp__web__echo", { a: 1 })]],
    });
    expect(told).toEqual(['echo {"a":1}']);
    expect(stderr).not.toContain("warning");
    const sessions = new Set(server.requests.slice(1).map(({ headers }) => headers["mcp-session-id"]));
    expect([...sessions]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(server.requests.map(({ method }) => method)).toContain("DELETE");
  });
});

describe("headers", () => {
  test("of the configuration go with every request, values from the environment filled in", async () => {
    await using server = startMcpHttpServer({ requires: { "x-team": "red", "x-api-key": token }, tools: [echo] });
    const { told } = await runWithServers({
      servers: { web: { url: server.url, headers: { "x-team": "red", "x-api-key": "${DOCS_KEY}" } } },
      turns: [[call("mcp__web__echo")]],
      env: { DOCS_KEY: token },
    });
    expect(told).toEqual(["echo {}"]);
    for (const { headers } of server.requests) expect(headers).toMatchObject({ "x-team": "red", "x-api-key": token });
  });

  test("carry the token that a variable holds", async () => {
    await using server = startMcpHttpServer({ requires: { authorization: `Bearer ${token}` }, tools: [echo] });
    const { told } = await runWithServers({
      servers: { web: { url: server.url, bearer_token_env: "DOCS_TOKEN" } },
      turns: [[call("mcp__web__echo")]],
      env: { DOCS_TOKEN: token },
    });
    expect(told).toEqual(["echo {}"]);
  });

  test("that a server refuses are one warning, which says so and shows no token", async () => {
    await using server = startMcpHttpServer({ requires: { authorization: "Bearer other" }, tools: [echo] });
    const { stderr, code } = await runWithServers({
      servers: { web: { url: server.url, bearer_token_env: "DOCS_TOKEN" } },
      env: { DOCS_TOKEN: token },
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/warning: .*web/);
    expect(stderr).toContain("401");
    expect(stderr).not.toContain(token);
  });

  test("whose variable is not set are one warning that names it", async () => {
    const { stderr, code } = await runWithServers({
      servers: { web: { url: "http://127.0.0.1:1/mcp", bearer_token_env: "DOCS_TOKEN" } },
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/warning: .*web.*DOCS_TOKEN/);
  });
});

test("a server that takes requests and never answers is one warning, and nothing waits for it at the end", async () => {
  await using server = startMcpHttpServer({ initialize: "never" });
  const started = performance.now();
  const { stderr, code } = await runWithServers({ servers: { web: { url: server.url, startup_timeout: 0.4 } } });
  expect(code).toBe(0);
  expect(stderr).toMatch(/warning: .*web.*0\.4 s/);
  expect(performance.now() - started).toBeLessThan(5000);
});

test("a stream that ends without the answer fails the call at once", async () => {
  await using server = startMcpHttpServer({ tools: [{ name: "die", act: { kind: "die" } }, echo] });
  const { told } = await runWithServers({
    servers: { web: { url: server.url } },
    turns: [[call("mcp__web__die"), call("mcp__web__echo")]],
  });
  expect(told[0]).toStartWith("Error: ");
  expect(told[1]).toBe("echo {}");
});

test("a server that is not there is one warning", async () => {
  const { stderr, code, told } = await runWithServers({
    servers: { web: { url: "http://127.0.0.1:1/mcp" }, good: mcpServer({ tools: [echo] }) },
    turns: [[call("mcp__good__echo")]],
  });
  expect(code).toBe(0);
  expect(told).toEqual(["echo {}"]);
  expect(stderr).toMatch(/warning: .*web/);
});

test("a server that has forgotten the session is connected anew for the call that finds out", async () => {
  await using server = startMcpHttpServer({ tools: [echo], forgetsAfterCalls: 1 });
  const { told } = await runWithServers({
    servers: { web: { url: server.url } },
    turns: [[call("mcp__web__echo", { n: 1 })], [call("mcp__web__echo", { n: 2 })]],
  });
  expect(told).toEqual(['echo {"n":1}', 'echo {"n":2}']);
  expect(server.requests.filter(({ body }) => body?.method === "initialize")).toHaveLength(2);
});

test("progress and a changed list of tools arrive over it", async () => {
  const tools = [
    { name: "long", act: { kind: "progress", steps: 5, everyMs: 200 } },
    // The news come on another stream than the answer, so they may overtake each other.
    { name: "more", act: { kind: "become", tools: [{ name: "new" }], afterMs: 300 } },
  ] as const;
  await using server = startMcpHttpServer({ tools });
  const { told, requests } = await runWithServers({
    servers: { web: { url: server.url, call_timeout: 0.8 } },
    turns: [[call("mcp__web__long")], [call("mcp__web__more")], [call("mcp__web__new")]],
  });
  expect(told).toEqual(["long {}", "more {}", "new {}"]);
  expect(fromServers(offeredIn(requests[2]))).toEqual(["mcp__web__new"]);
});

test("a call that is given up is cancelled at the server", async () => {
  await using server = startMcpHttpServer({ tools: [{ name: "hang", act: { kind: "hang" } }] });
  const { told } = await runWithServers({
    servers: { web: { url: server.url, call_timeout: 0.3 } },
    turns: [[call("mcp__web__hang")]],
  });
  expect(told[0]).toStartWith("Error: ");
  expect(server.requests.filter(({ body }) => body?.method === "notifications/cancelled")).toHaveLength(1);
});
