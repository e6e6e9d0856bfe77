import { describe, expect, test } from "bun:test";
import { parseMcpJson } from "../../src/config/mcp-json.ts";

const parse = (value: unknown) =>
  parseMcpJson(typeof value === "string" ? value : JSON.stringify(value), "/p/.mcp.json", "project");

test("the files of other programs are read, with keys that mean nothing here", () => {
  const { servers, problems } = parse({
    inputs: [],
    mcpServers: {
      local: { type: "stdio", command: "npx", args: ["-y", "x"], env: { A: "b" }, alwaysAllow: ["x"], timeout: 60 },
      web: { type: "http", url: "https://x/mcp", headers: { A: "b" } },
      streamable: { type: "streamable-http", url: "https://x/mcp" },
      off: { command: "x", disabled: true },
    },
  });
  expect(problems).toEqual([]);
  expect(servers).toEqual({
    local: { command: "npx", args: ["-y", "x"], env: { A: "b" } },
    web: { url: "https://x/mcp", headers: { A: "b" } },
    streamable: { url: "https://x/mcp" },
    off: { command: "x", enabled: false },
  });
});

describe("a server that is wrong is left out and named, the others stay", () => {
  test.each([
    ["a wrong type", { command: 7 }, "'command' must be of type string"],
    ["no object", "npx server", "it must be of type object"],
    ["the old transport", { type: "sse", url: "https://x/sse" }, "the transport sse is not supported"],
  ])("%s", (_, bad, problem) => {
    const { servers, problems } = parse({ mcpServers: { bad, good: { command: "x" } } });
    expect(Object.keys(servers)).toEqual(["good"]);
    expect(problems).toEqual([expect.stringContaining(`/p/.mcp.json: the server bad is left out: ${problem}`)]);
  });
});

test.each([
  ["no JSON", "{", "not valid JSON"],
  ["a list", [], "no object mcpServers"],
  ["servers of another kind", { mcpServers: [] }, "no object mcpServers"],
  ["VS Code's word for them", { servers: {} }, "no object mcpServers"],
])("a text that is no such file is one error with its form: %s", (_, value, message) => {
  expect(() => parse(value)).toThrow(message);
});
