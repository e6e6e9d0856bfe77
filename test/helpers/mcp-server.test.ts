// The servers that misbehave on demand behave when nobody demands it: the official client is content with them.
import { expect, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { startMcpHttpServer } from "./mcp-http-server.ts";
import { mcpServer } from "./mcp-server.ts";

const spec = {
  tools: [{ name: "echo" }, { name: "long", act: { kind: "progress", steps: 2, everyMs: 100 } }],
  resources: [{ uri: "file:///a", name: "a", text: "the text" }],
  prompts: [{ name: "greet", arguments: [{ name: "who", required: true }], text: "Hello {who}." }],
  instructions: "Be kind.",
} as const;

/** `tellsProgress`: there is a way for it to come before the answer. */
async function checkWith(transport: Transport, tellsProgress = true): Promise<void> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  expect(client.getInstructions()).toBe("Be kind.");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "long"]);
  const result = await client.callTool({ name: "echo", arguments: { a: 1 } });
  expect(result.content).toEqual([{ type: "text", text: 'echo {"a":1}' }]);
  const steps: (number | undefined)[] = [];
  await client.callTool({ name: "long" }, undefined, { onprogress: ({ progress }) => steps.push(progress) });
  expect(steps[0]).toBe(tellsProgress ? 1 : undefined);
  expect((await client.readResource({ uri: "file:///a" })).contents).toEqual([{ uri: "file:///a", text: "the text" }]);
  const { messages } = await client.getPrompt({ name: "greet", arguments: { who: "you" } });
  expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Hello you." } }]);
  await client.close();
}

test("over stdio", async () => {
  await checkWith(new StdioClientTransport(mcpServer(spec)));
});

test.each([false, true])("over HTTP, JSON documents %p", async (json) => {
  await using server = startMcpHttpServer({ ...spec, json });
  // In the types of the library the class lacks what its own interface wants under exactOptionalPropertyTypes.
  await checkWith(new StreamableHTTPClientTransport(new URL(server.url)) as Transport, !json);
});
