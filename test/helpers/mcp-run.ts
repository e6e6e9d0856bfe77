// Runs of the compiled binary with MCP servers in its config.toml and a scripted model that calls their tools.
import { mkdirSync, writeFileSync } from "node:fs";
import type { CallSpec } from "./chat-stream.ts";
import { type RecordedRequest, type Reply, startReplayServer } from "./replay-server.ts";
import { type CliOptions, type CliResult, runCli } from "./run-cli.ts";
import { tmp } from "./tmp.ts";
import { chatWire, reach } from "./wire.ts";

type Table = Readonly<Record<string, unknown>>;

export interface McpRunOptions extends Omit<CliOptions, "home"> {
  /** The `[mcp.NAME]` tables. */
  readonly servers?: Readonly<Record<string, Table>>;
  /** Further keys of config.toml. */
  readonly config?: Table;
  /** A home to use instead of an own one; its config.toml is written anew. */
  readonly home?: string;
  /** What the model calls, a turn for each; then it says "done". */
  readonly turns?: readonly (readonly CallSpec[])[];
  /** Replies in the place of `turns`. */
  readonly script?: readonly Reply[];
  /** `["-p", "--yolo"]` by default; the task comes behind them. */
  readonly flags?: readonly string[];
}

export interface McpRun extends CliResult {
  /** The names of the tools in the first request. */
  readonly offered: readonly string[];
  /** The results of tools in the last request, in order. */
  readonly told: readonly string[];
  readonly requests: readonly RecordedRequest[];
}

/** One task. The requests must have been good ones. */
export async function runWithServers(options: McpRunOptions): Promise<McpRun> {
  await using dir = tmp();
  const { servers = {}, config = {}, turns = [], flags = ["-p", "--yolo"], ...cli } = options;
  const home = options.home ?? dir.path;
  writeConfig(home, servers, config);
  const script = options.script ?? [...turns.map((calls) => ({ turn: { calls } })), { turn: { text: "done" } }];
  await using model = await startReplayServer(script);
  const result = await runCli([...flags, "go"], {
    ...cli,
    home,
    env: { ...reach(chatWire, model.url), ...options.env },
  });
  if (model.problems.length > 0) throw new Error(`${model.problems.join("\n")}\n--- stderr\n${result.stderr}`);
  const last = model.requests.at(-1)?.body.messages ?? [];
  return {
    ...result,
    requests: model.requests,
    offered: offeredIn(model.requests[0]),
    told: last.filter(({ role }: Table) => role === "tool").map(({ content }: Table) => content),
  };
}

/** Writes the config.toml of a home. */
export function writeConfig(home: string, servers: McpRunOptions["servers"] = {}, config: Table = {}): void {
  mkdirSync(`${home}/.pi-ts`, { recursive: true });
  const text = Bun.TOML.stringify({ ...config, mcp: servers });
  writeFileSync(`${home}/.pi-ts/config.toml`, text);
}

/** The names of the tools that a request offers. */
export function offeredIn(request: RecordedRequest | undefined): string[] {
  return (request?.body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name);
}

/** Those among them that come from servers. */
export function fromServers(names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith("mcp__"));
}

/** A call with a fresh id. */
export function call(name: string, args: CallSpec["arguments"] = {}): CallSpec {
  return { id: `call_${Bun.randomUUIDv7()}`, name, arguments: args };
}
