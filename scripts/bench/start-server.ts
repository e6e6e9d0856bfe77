// Starts the bench's server in its own process, so that serving and measuring do not disturb each other more than two programs do.
import { join } from "node:path";

/** What its answers call `bash` with. */
export interface ServedCommands {
  readonly flood: string;
  readonly tools: readonly string[];
}

export async function startServer({ flood, tools }: ServedCommands): Promise<{ origin: string; stop(): void }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "server.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, BENCH_FLOOD: flood, BENCH_COMMANDS: JSON.stringify(tools) },
  });
  const first = await child.stdout.getReader().read();
  return { origin: new TextDecoder().decode(first.value).trim(), stop: () => child.kill() };
}
