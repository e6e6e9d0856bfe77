// The MCP servers of a run: the tables of all layers, merged by name, with the environment's values in their places.
import { dirname, join } from "node:path";
import { longestTimerMs } from "../util/duration.ts";
import type { Environment } from "../util/environment.ts";
import type { McpHttp, McpServer, McpStdio } from "../util/mcp-server.ts";
import { resolvePath } from "../util/paths.ts";
import { namedSecrets } from "../util/redact.ts";

/** A server's table, as `[mcp.NAME]` in config.toml or an entry of `mcpServers` has it. Times are seconds. */
export interface McpTable {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The variable whose value is sent as `Authorization: Bearer …`. */
  readonly bearer_token_env?: string | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly exclude_tools?: readonly string[] | undefined;
  readonly startup_timeout?: number | undefined;
  readonly call_timeout?: number | undefined;
  readonly required?: boolean | undefined;
  readonly enabled?: boolean | undefined;
  readonly trust_annotations?: boolean | undefined;
}

/** The servers that one file names. */
export interface McpSource {
  /** Of the file, absolute. */
  readonly path: string;
  readonly scope: McpServer["scope"];
  readonly servers: Readonly<Record<string, McpTable>>;
}

/** What the config files say of servers, in their order. */
export function mcpSources(
  files: readonly { readonly path: string; readonly content: { readonly mcp?: McpSource["servers"] | undefined } }[],
  home: string,
): McpSource[] {
  return files.flatMap(({ path, content }): McpSource[] => {
    const scope = path === join(home, "config.toml") ? "user" : "project";
    return content.mcp ? [{ path, scope, servers: content.mcp }] : [];
  });
}

export const mcpDefaults = { startupSeconds: 60, callSeconds: 300 } as const;

/**
 * The servers by name, those of the first source first. Of several tables with one name the first that says how the server is reached defines
 * it; tables that do not say so change what they name, the first of them counting most. What is wrong with a server is its `problem`.
 */
export function resolveMcpServers(sources: readonly McpSource[], env: Environment): McpServer[] {
  const names = new Set(sources.flatMap(({ servers }) => Object.keys(servers)));
  return [...names].map((name) => {
    const tables = sources.flatMap((source) => {
      const table = Object.hasOwn(source.servers, name) ? source.servers[name] : undefined;
      return table ? [{ table, source }] : [];
    });
    const definition = tables.find(({ table }) => isDefinition(table));
    const changes = tables.filter(({ table }) => !isDefinition(table)).map(({ table }) => given(table));
    const table: McpTable = Object.assign({}, definition?.table, ...changes.toReversed());
    const { path, scope } = (definition ?? (tables[0] as (typeof tables)[number])).source;
    const expand = createExpander(env);
    let transport: McpServer["transport"];
    let problem: string | undefined;
    try {
      transport = toTransport(table, dirname(path), env, expand);
    } catch (error) {
      problem = (error as Error).message;
    }
    return {
      name,
      source: path,
      scope,
      transport,
      problem,
      tools: table.tools,
      excludeTools: table.exclude_tools ?? [],
      startupMs: milliseconds(table.startup_timeout ?? mcpDefaults.startupSeconds),
      callMs: milliseconds(table.call_timeout ?? mcpDefaults.callSeconds),
      required: table.required ?? false,
      enabled: table.enabled ?? true,
      trustAnnotations: table.trust_annotations ?? false,
      secrets: [...new Set([...expand.values(), ...(transport ? writtenSecrets(transport) : [])])].filter(Boolean),
    };
  });
}

/** What is written down under a name such as `API_KEY` or `Authorization`, and the password in a URL. */
function writtenSecrets(transport: McpStdio | McpHttp): string[] {
  if (transport.kind === "stdio") return namedSecrets(transport.env);
  const { searchParams, password } = new URL(transport.url);
  const parameters = Object.fromEntries(searchParams);
  return [...namedSecrets(transport.headers), ...namedSecrets({ ...parameters, password })];
}

function isDefinition({ command, url }: McpTable): boolean {
  return command !== undefined || url !== undefined;
}

function given(table: McpTable): McpTable {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined));
}

/** 0 is no limit. */
function milliseconds(seconds: number): number {
  return seconds === 0 ? longestTimerMs : Math.min(seconds * 1000, longestTimerMs);
}

function toTransport(table: McpTable, folder: string, env: Environment, expand: Expander): McpStdio | McpHttp {
  const { command, url } = table;
  if (command !== undefined && url !== undefined) throw new Error("it has both a command and a url: keep one of them");
  if (command !== undefined) {
    const program = expand(command, "command");
    if (program.trim() === "") throw new Error("its command is empty");
    if (/\s/.test(program.trim()) && table.args === undefined && !program.includes("/")) {
      throw new Error(`its command is a whole line: '${command}'; the words behind the program go into args`);
    }
    return {
      kind: "stdio",
      command: program.startsWith("~/") ? resolvePath("/", program) : program,
      args: (table.args ?? []).map((arg, i) => expand(arg, `args[${i}]`)),
      env: expandAll(table.env ?? {}, "env", expand),
      cwd: table.cwd === undefined ? undefined : resolvePath(folder, expand(table.cwd, "cwd")),
    };
  }
  if (url === undefined) throw new Error("it has neither a command nor a url");
  const address = expand(url, "url");
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new Error(`its url is not an http or https URL: '${url}'`);
  }
  return { kind: "http", url: address, headers: toHeaders(table, env, expand) };
}

function toHeaders({ headers = {}, bearer_token_env: variable }: McpTable, env: Environment, expand: Expander) {
  const values: Record<string, string> = expandAll(headers, "headers", expand);
  if (variable !== undefined) {
    const token = env[variable];
    if (!token) throw new Error(`bearer_token_env: $${variable} is not set`);
    values.Authorization = `Bearer ${expand(`\${${variable}}`, "bearer_token_env").trim()}`;
  }
  for (const [name, value] of Object.entries(values)) {
    try {
      new Headers({ [name]: value });
    } catch {
      throw new Error(`headers.${name} cannot be sent as a header: check its name and value`);
    }
  }
  return values;
}

function expandAll(texts: Readonly<Record<string, string>>, key: string, expand: Expander): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, expand(text, `${key}.${name}`)]));
}

interface Expander {
  /** `$NAME` alone, and `${NAME}` and `${NAME:-default}` anywhere, become values of the environment. Throws for one that is not set. */
  (text: string, key: string): string;
  /** Those that were used, but for what is no secret. */
  values(): string[];
}

const variables = /^\$([A-Za-z_]\w*)$|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Variables about the user and the machine, that paths are made of. */
const harmless =
  /^(?:HOME|PWD|USER|LOGNAME|USERNAME|SHELL|LANG|TMPDIR|TEMP|TMP|PATH|APPDATA|LOCALAPPDATA|USERPROFILE|XDG_\w+)$/;

function createExpander(env: Environment): Expander {
  const used = new Set<string>();
  const expand = (text: string, key: string) =>
    text.replace(variables, (_match, whole: string | undefined, name: string | undefined, fallback?: string) => {
      const variable = whole ?? name ?? "";
      const value = env[variable] || fallback;
      if (value === undefined) throw new Error(`${key}: $${variable} is not set`);
      if (env[variable] && !harmless.test(variable)) used.add(value);
      return value;
    });
  return Object.assign(expand, { values: () => [...used] });
}
