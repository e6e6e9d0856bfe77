// The client that the MCP conformance suite starts with the address of its server: the compiled program, with that server configured and a
// scripted model that calls each of the server's tools once. Ends as the program does.
import { mkdirSync, writeFileSync } from "node:fs";
import type { CallSpec } from "../../test/helpers/chat-stream.ts";
import { startReplayServer } from "../../test/helpers/replay-server.ts";
import { binaryPath, cleanEnv } from "../../test/helpers/run-cli.ts";
import { tmp } from "../../test/helpers/tmp.ts";
import { reach } from "../../test/helpers/wire.ts";

interface OfferedTool {
  readonly function: { readonly name: string; readonly parameters: { readonly properties?: Record<string, unknown> } };
}

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error("usage: bun scripts/conformance/mcp-client.ts URL");

await using dir = tmp();
const home = dir.file("home");
mkdirSync(home);
writeFileSync(dir.file("servers.json"), JSON.stringify({ mcpServers: { suite: { type: "http", url } } }));
await using model = await startReplayServer(({ body }, position) => {
  const calls = position === 0 ? (body.tools as OfferedTool[]).filter(isOfServer).map(toCall) : [];
  return { turn: calls.length > 0 ? { calls } : { text: "done" } };
});
const child = Bun.spawn([binaryPath(), "-p", "--yolo", "--mcp-config", dir.file("servers.json"), "use your tools"], {
  cwd: dir.path,
  env: cleanEnv(home, reach({ provider: "openai", keyEnv: "OPENAI_API_KEY" }, model.url)),
  stdin: "ignore",
  stdout: "inherit",
  stderr: "inherit",
});
process.exitCode = await child.exited;
if (model.problems.length > 0) throw new Error(model.problems.join("\n"));

function isOfServer(tool: OfferedTool): boolean {
  return tool.function.name.startsWith("mcp__suite__");
}

/** Every argument is a number: the only ones the suite asks for. */
function toCall({ function: { name, parameters } }: OfferedTool, index: number): CallSpec {
  const args = Object.fromEntries(Object.keys(parameters.properties ?? {}).map((key, i) => [key, i + 2]));
  return { id: `call_${index}`, name, arguments: args };
}
