// The library behind MCP servers is heavy: whoever has no server does not pay for it.
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { writeConfig } from "../helpers/mcp-run.ts";
import { mcpServer } from "../helpers/mcp-server.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { cleanEnv } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { chatWire, reach } from "../helpers/wire.ts";

setDefaultTimeout(20_000);

/** The modules of the library that a one-shot run from the sources loads. */
async function loadedBy(servers: Parameters<typeof writeConfig>[1], flags: readonly string[] = []): Promise<string[]> {
  await using dir = tmp();
  const [home, list] = [dir.file("home"), dir.file("modules")];
  mkdirSync(home);
  writeConfig(home, servers);
  await using model = await startReplayServer([{ turn: { text: "done" } }]);
  const preload = resolve(import.meta.dir, "../helpers/tell-modules.ts");
  const main = resolve(import.meta.dir, "../../src/main.ts");
  const child = Bun.spawn([process.execPath, "--preload", preload, main, "-p", ...flags, "go"], {
    cwd: dir.path,
    env: { ...cleanEnv(home, reach(chatWire, model.url)), TELL_MODULES: list },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(stdout, stderr).toBe("done\n");
  const modules = readFileSync(list, "utf8").split("\n");
  expect(modules.some((path) => path.endsWith("/src/app/create-app.ts"))).toBe(true);
  return modules.filter((path) => path.includes("/node_modules/@modelcontextprotocol/"));
}

test("it is loaded when a server is configured", async () => {
  const modules = await loadedBy({ s: mcpServer({ tools: [{ name: "echo" }] }) });
  expect(modules.length).toBeGreaterThan(0);
  // The client's part alone, without the other transport (helpers for its schemas lie in the server's folder).
  expect(modules.filter((path) => /\/server\/(?!zod-)|streamableHttp/.test(path))).toEqual([]);
});

test("it is not loaded without any server that is enabled, or with --no-mcp", async () => {
  const loaded = await Promise.all([
    loadedBy({ s: { command: "x", enabled: false } }),
    loadedBy({ s: mcpServer({}) }, ["--no-mcp"]),
  ]);
  expect(loaded).toEqual([[], []]);
});
