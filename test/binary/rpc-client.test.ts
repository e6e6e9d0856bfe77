// pi's own client drives the compiled binary. Its package is fetched once from the npm registry into a cache folder; where it cannot be had,
// the test is skipped and says why.
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { fetchPackage } from "../helpers/npm-package.ts";
import { piPackage } from "../helpers/real-pi.ts";
import { binaryPath, cleanEnv } from "../helpers/run-cli.ts";
import { scriptedModelsConfig, startScriptedModels } from "../helpers/scripted-models.ts";
import { tmp } from "../helpers/tmp.ts";

/** As far as it is used here. */
interface RpcClient {
  start(): Promise<void>;
  stop(): Promise<void>;
  onEvent(listener: (event: { type: string; message?: { role: string }; aborted?: boolean }) => void): () => void;
  getStderr(): string;
  prompt(message: string): Promise<string>;
  steer(message: string): Promise<string>;
  followUp(message: string): Promise<string>;
  abort(): Promise<void>;
  bash(command: string): Promise<{ output: string; exitCode?: number }>;
  compact(wishes?: string): Promise<{ summary: string; tokensBefore: number }>;
  getForkMessages(): Promise<{ entryId: string; text: string }[]>;
  fork(entryId: string): Promise<{ text: string; cancelled: boolean }>;
  getLastAssistantText(): Promise<string | null>;
  getMessages(): Promise<{ role: string }[]>;
  getState(): Promise<{ isStreaming: boolean; messageCount: number; sessionFile?: string; model: { id: string } }>;
  setModel(provider: string, id: string): Promise<{ id: string }>;
  waitForIdle(timeout?: number): Promise<void>;
  promptAndWait(message: string): Promise<{ type: string }[]>;
}

// Of its package the client needs files that import nothing but Node's own modules.
const clientFile = await fetchPackage({ ...piPackage, file: "dist/modes/rpc/rpc-client.js" });
if ("missing" in clientFile) console.log(`the test of pi's own client is skipped: ${clientFile.missing}`);

test.skipIf("missing" in clientFile)(
  "prompt, steer, abort, bash, fork, compact and waitForIdle of pi's own client",
  async () => {
    await using server = await startScriptedModels({ sleep: 0.5 });
    await using dir = tmp();
    mkdirSync(dir.file("home/.pi-ts"), { recursive: true });
    mkdirSync(dir.file("work"));
    mkdirSync(dir.file("bin"));
    writeFileSync(dir.file("home/.pi-ts/config.toml"), scriptedModelsConfig(server));
    const script = (file: string, text: string) => {
      writeFileSync(dir.file(file), `#!/bin/sh\n${text}\n`);
      chmodSync(dir.file(file), 0o755);
      return dir.file(file);
    };
    const pi = script("bin/pi", `exec '${binaryPath()}' --yolo "$@"`);
    // The client runs `node cli.js …`, where the program in this place is no script of Node's.
    script("bin/node", 'exec "$@"');
    const { RpcClient } = (await import((clientFile as { path: string }).path)) as {
      RpcClient: new (options: object) => RpcClient;
    };
    const env = cleanEnv(dir.file("home"), { PATH: `${dir.file("bin")}:${process.env.PATH}` });
    const client = new RpcClient({ cliPath: pi, cwd: dir.file("work"), env, provider: "mock", model: "hello" });
    const types: string[] = [];
    const waiting = new Map<string, () => void>();
    /** Resolves with the next event of this type. */
    const next = (type: string) => new Promise<void>((resolve) => waiting.set(type, resolve));
    await client.start();
    try {
      client.onEvent(({ type }) => {
        types.push(type);
        waiting.get(type)?.();
      });

      expect((await client.promptAndWait("hi")).at(-1)?.type).toBe("agent_settled");
      expect(await client.getLastAssistantText()).toBe("Hello from the mock.");
      expect(await client.bash("echo from bash")).toMatchObject({ output: "from bash\n", exitCode: 0 });

      expect((await client.setModel("mock", "bash-sleep")).id).toBe("bash-sleep");
      let begun = next("tool_execution_start");
      expect(await client.prompt("run")).toBe("started");
      await begun;
      await expect(client.prompt("now")).rejects.toThrow("streamingBehavior");
      expect(await client.steer("steered")).toBe("queued");
      await client.waitForIdle(20_000);
      const roles = (await client.getMessages()).map(({ role }) => role);
      expect(roles).toEqual(
        "system user assistant bashExecution user assistant toolResult user assistant toolResult assistant".split(" "),
      );

      await client.setModel("mock", "bash-sleep-long");
      begun = next("tool_execution_start");
      await client.prompt("run for long");
      await begun;
      const idle = client.waitForIdle(20_000);
      await client.abort();
      await idle;
      expect((await client.getState()).isStreaming).toBe(false);

      await client.setModel("mock", "hello");
      const said = await client.getForkMessages();
      expect(said.map(({ text }) => text)).toEqual(["hi", "run", "steered", "run for long"]);
      const before = await client.getState();
      expect(await client.fork(said[1]?.entryId ?? "")).toEqual({ text: "run", cancelled: false });
      const after = await client.getState();
      expect(after.messageCount).toBe(4);
      expect(after.sessionFile).not.toBe(before.sessionFile);

      await client.promptAndWait("and on");
      const { summary, tokensBefore } = await client.compact("short");
      expect(summary).toContain("Hello from the mock.");
      expect(tokensBefore).toBeGreaterThan(0);
      expect((await client.getMessages()).map(({ role }) => role)).toContain("compactionSummary");
      expect(types.filter((type) => type === "agent_settled")).toHaveLength(4);
    } finally {
      await client.stop();
    }
    expect(client.getStderr()).toBe("");
    expect(server.problems).toEqual([]);
  },
  60_000,
);
