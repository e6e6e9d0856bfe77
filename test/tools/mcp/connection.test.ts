// The library's client over our own transport: nothing that a server says is lost for coming all at once.
import { expect, test } from "bun:test";
import { connect } from "../../../src/tools/mcp/connection.ts";
import { createServerLog } from "../../../src/tools/mcp/server-log.ts";
import { startStdio } from "../../../src/tools/mcp/stdio.ts";
import { tmp } from "../../helpers/tmp.ts";

/** Answers a call with three signs of progress and the result, all in one write. */
const script = `
const say = (message) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n";
const server = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
for await (const line of console) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") process.stdout.write(say({ id, result: server }));
  else if (id !== undefined) {
    const { progressToken } = params._meta;
    const signs = [1, 2, 3].map((progress) => say({ method: "notifications/progress", params: { progressToken, progress } }));
    process.stdout.write(signs.join("") + say({ id, result: { content: [] } }));
  }
}`;

test("progress that comes together with the answer is told before it", async () => {
  await using dir = tmp();
  const transport = await startStdio({
    server: { kind: "stdio", command: process.execPath, args: ["-e", script], env: {}, cwd: undefined },
    cwd: dir.path,
    env: { PATH: process.env.PATH },
    log: createServerLog(dir.file("log")),
    onNoise() {},
  });
  const connection = await connect({ transport, timeoutMs: 5000, onListChanged() {}, onClose() {} });
  const seen: number[] = [];
  await connection.call("t", {}, { timeoutMs: 5000, onProgress: ({ progress }) => seen.push(progress) });
  expect(seen).toEqual([1, 2, 3]);
  await connection.close();
});
