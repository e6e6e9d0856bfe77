// The two programs that speak the protocol, each started by the SDK in a home of its own and pointed at the same scripted provider.
import { mkdirSync, writeFileSync } from "node:fs";
import { AgentClient, type StartOptions } from "../../src/index.ts";
import { findRealPi, piPackage } from "../helpers/real-pi.ts";
import type { ReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, cleanEnv } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

export interface Program {
  readonly name: string;
  /** Why it cannot be tested here. */
  readonly missing?: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** Beside the usual; the home is empty and its own. */
  configure(home: TmpDir, server: Pick<ReplayServer, "url">): Record<string, string>;
}

/** The models of the provider `mock`; the first is the one to begin with. */
export const models = ["first", "second"];
const contextWindow = 100_000;

const piTs: Program = {
  name: "pi-ts",
  command: [binaryPath()],
  // pi asks nobody before it runs a tool.
  args: ["--yolo"],
  configure(home, { url }) {
    mkdirSync(home.file(".pi-ts"));
    const rows = models.map((id) => `[[providers.mock.models]]\nid = "${id}"\ncontext_window = ${contextWindow}\n`);
    writeFileSync(home.file(".pi-ts/config.toml"), `[providers.mock]\nbase_url = "${url}"\n\n${rows.join("\n")}`);
    return {};
  },
};

async function realPi(): Promise<Program> {
  const found = await findRealPi();
  return {
    name: `pi ${piPackage.version}`,
    ...("missing" in found ? { ...found, command: [] } : found),
    args: [],
    configure(home, { url }) {
      const rows = models.map((id) => ({ id, contextWindow }));
      const mock = { baseUrl: url, api: "openai-completions", apiKey: "none", models: rows };
      writeFileSync(home.file("models.json"), JSON.stringify({ providers: { mock } }));
      return { PI_CODING_AGENT_DIR: home.path, PI_OFFLINE: "1" };
    },
  };
}

export const programs: readonly Program[] = [piTs, await realPi()];

export interface Agent extends AsyncDisposable {
  readonly client: AgentClient;
  /** How another one is started in the same surroundings. */
  readonly launch: StartOptions;
  /** Where it works. */
  readonly cwd: TmpDir;
}

export async function startAgent(program: Program, server: Pick<ReplayServer, "url">): Promise<Agent> {
  const home = tmp();
  const cwd = tmp();
  const env = { ...unsetAll(), ...cleanEnv(home.path, program.configure(home, server)) };
  const { command, args } = program;
  const launch = { command, args, cwd: cwd.path, env, provider: "mock", model: models[0], validate: true };
  const client = await AgentClient.start(launch);
  return {
    client,
    launch,
    cwd,
    async [Symbol.asyncDispose]() {
      await client.close();
      await Promise.all([home, cwd].map((dir) => dir[Symbol.asyncDispose]()));
    },
  };
}

/** The client adds to this process's environment; nothing of it is to reach the program. */
function unsetAll(): Record<string, undefined> {
  return Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
}
