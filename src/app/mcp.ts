// The MCP servers of a run: which ones there are, and the code behind them, which is loaded only when there is one.
import { join } from "node:path";
import { type Config, homeFolder, keyVariables, type LoadedFile, loadConfigFile } from "../config/config.ts";
import { type McpSource, mcpSources, resolveMcpServers } from "../config/mcp.ts";
import type { ProjectFile } from "../config/project.ts";
import { catalog } from "../providers/catalog.ts";
import { chooseProxy, toFetchProxy } from "../providers/network.ts";
import type { Mcp, Server } from "../tools/mcp/index.ts";
import { childEnvironment } from "../util/child-env.ts";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import type { McpServer } from "../util/mcp-server.ts";
import { resolvePath } from "../util/paths.ts";
import { unlessAborted } from "../util/unless-aborted.ts";
import { loadProjectFile, loadProjectMcp } from "./project.ts";

export type { Mcp } from "../tools/mcp/index.ts";

export interface McpPlace {
  readonly cwd: string;
  readonly env: Environment;
  /** As in `ProjectOptions`. */
  readonly trust: boolean | undefined;
  readonly ask?: ((file: ProjectFile) => Promise<boolean>) | undefined;
  readonly notify: (text: string) => void;
  /** Files that the command line names, relative to `cwd`. */
  readonly files: readonly string[];
}

/** All servers there are, for commands about them. Throws `AppError` for a file that cannot be used. */
export async function findMcpServers(place: McpPlace): Promise<McpServer[]> {
  const project = await loadProjectFile(place);
  const own = await loadConfigFile(homeFolder(place.env));
  const files: LoadedFile[] = project ? [project, own] : [own];
  return gather(mcpSources(files, homeFolder(place.env)), place);
}

/** All servers of a run, in the order in which the files that name them count. Throws `AppError` for a file of the command line that cannot be used. */
export function configuredServers(config: Pick<Config, "mcp">, place: McpPlace): Promise<McpServer[]> {
  return gather(config.mcp, place);
}

/** The files of the command line, the project's config.toml, its `.mcp.json`, the user's config.toml: the first counts most. */
async function gather(sources: readonly McpSource[], place: McpPlace): Promise<McpServer[]> {
  const named = await Promise.all(place.files.map((file) => readMcpFile(resolvePath(place.cwd, file))));
  const theirs = await loadProjectMcp(place);
  const project = sources.filter(({ scope }) => scope === "project");
  const own = sources.filter(({ scope }) => scope === "user");
  return resolveMcpServers([...named, ...project, ...(theirs ? [theirs] : []), ...own], place.env);
}

async function readMcpFile(path: string): Promise<McpSource> {
  const [{ readConfigFile }, { parseMcpJson }] = await Promise.all([
    import("../config/file.ts"),
    import("../config/mcp-json.ts"),
  ]);
  const servers = parseMcpJson(readConfigFile(path), path, "temporary");
  const [problem] = servers.problems;
  if (problem !== undefined) throw new AppError("config", problem, { hint: "Correct the file." });
  return servers;
}

/** Starts those that are enabled and that the run can use; undefined when there is none, and then nothing of their code is loaded. */
export async function startMcp(config: Config, place: McpPlace): Promise<Mcp | undefined> {
  const servers = (await configuredServers(config, place)).filter(
    (server) => server.enabled && isUsable(server, config),
  );
  if (servers.length === 0) return undefined;
  const { createMcp } = await import("../tools/mcp/index.ts");
  return createMcp(servers, hostOf(place, servers, config));
}

/** Whether any of its tools could be offered; a run starts no other server. */
export function isUsable({ trustAnnotations }: McpServer, { permissions }: Config): boolean {
  const { readOnly, tools } = permissions;
  return (!readOnly || trustAnnotations) && (tools === undefined || tools.some(couldNameServerTool));
}

/** Changes (`+name`, `-name`) leave the tools that they do not name as they are. */
function couldNameServerTool(pattern: string): boolean {
  const [start = "", ...wildcards] = pattern.split("*");
  return /^[+-]/.test(pattern) || start.startsWith("mcp__") || (wildcards.length > 0 && "mcp__".startsWith(start));
}

interface Keys extends Pick<Config, "home" | "keyVariables"> {
  readonly provider?: { readonly apiKey: string | undefined };
}

function hostOf({ cwd, env }: Pick<McpPlace, "cwd" | "env">, servers: readonly McpServer[], config: Keys) {
  const tokens = servers.flatMap(({ transport, secrets }) => (transport?.kind === "http" ? secrets : []));
  const keys = [config.provider?.apiKey, ...tokens];
  return {
    cwd,
    // Keys are for those servers whose own `env` names them.
    env: childEnvironment(env, { keyVariables: config.keyVariables, keys, pass: [], sessionId: undefined }),
    isDebug: Boolean(env.PI_TS_DEBUG),
    logFolder: join(config.home, "logs"),
    fetch: (url: string, init: RequestInit) =>
      fetch(url, { ...init, proxy: toFetchProxy(chooseProxy(url, env)), timeout: false } as BunFetchRequestInit),
  };
}

/** Those that are known without the configuration of a run. */
async function ownKeys(env: Environment): Promise<Keys> {
  const home = homeFolder(env);
  return { home, keyVariables: keyVariables([await loadConfigFile(home)], catalog) };
}

/** What came of a server that was tried. */
export interface McpReport {
  /** `starting`: nobody waits for it any longer. */
  readonly state: "ready" | "failed" | "disabled" | "starting";
  readonly error?: string;
  readonly tools: readonly { readonly name: string; readonly offeredAs: string }[];
  readonly prompts: readonly { readonly name: string }[];
  readonly hasResources: boolean;
  /** What is to be said of its tools. */
  readonly notes: readonly string[];
}

export interface McpCheckPlace extends Pick<McpPlace, "cwd" | "env"> {
  /** That of a run, when there is one. */
  readonly config?: Config;
  readonly signal?: AbortSignal;
}

/**
 * Connects to all of them at once and tells of each in order; none of them runs any more when this resolves. Each has its own time to start,
 * and all of them no longer than until `signal` aborts.
 */
export async function checkMcpServers(
  servers: readonly McpServer[],
  { cwd, env, signal, config }: McpCheckPlace,
  tell: (server: McpServer, report: McpReport) => void,
): Promise<void> {
  const enabled = servers.filter((server) => server.enabled);
  const host = hostOf({ cwd, env }, servers, config ?? (await ownKeys(env)));
  const mcp = enabled.length > 0 ? (await import("../tools/mcp/index.ts")).createMcp(enabled, host) : undefined;
  try {
    for (const server of servers) {
      const found = mcp?.servers().find((entry) => entry.server.config === server)?.server;
      // It never rejects, so this is the signal's end.
      if (found) await unlessAborted(found.started, signal).catch(() => {});
      // Asked again, since its names are known only now.
      const offered = mcp?.servers().find((entry) => entry.server === found)?.offered ?? new Map<string, string>();
      const error = found?.failure();
      const isStarting = mcp?.pending().includes(server.name) ?? false;
      tell(server, {
        state: stateOf(found, isStarting),
        ...(error === undefined ? {} : { error }),
        tools: error === undefined ? [...offered].map(([name, offeredAs]) => ({ name, offeredAs })) : [],
        prompts: (found?.prompts() ?? []).map(({ name }) => ({ name })),
        hasResources: found?.hasResources() ?? false,
        notes: found?.notes() ?? [],
      });
    }
  } finally {
    await mcp?.close();
  }
}

function stateOf(server: Server | undefined, isStarting: boolean): McpReport["state"] {
  if (!server) return "disabled";
  if (isStarting) return "starting";
  return server.failure() === undefined ? "ready" : "failed";
}
