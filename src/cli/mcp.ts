// `pi-ts mcp`: lists, adds, removes and checks the servers whose tools the model gets.
import type { McpReport } from "../app/mcp.ts";
import type { McpTable } from "../config/mcp.ts";
import { forReader } from "../modes/show.ts";
import { closest } from "../util/closest.ts";
import { AppError } from "../util/error.ts";
import { log } from "../util/log.ts";
import type { McpServer } from "../util/mcp-server.ts";
import { plural } from "../util/plural.ts";
import { redact } from "../util/redact.ts";
import { visible, visibleLine } from "../util/sanitize.ts";
import { type CliContext, defineCommand } from "./command.ts";
import type { ParsedFlags } from "./parse-args.ts";

const actions = ["list", "add", "remove", "check"] as const;

const args = {
  action: {
    type: "positional",
    required: false,
    complete: actions,
    description: "list (default), add, remove or check",
  },
  server: {
    type: "positional",
    required: false,
    complete: "mcp-servers",
    description: "Its name; check takes several, or none for all",
  },
  command: {
    type: "positional",
    required: false,
    complete: "files",
    description: "For add, behind `--`: the program and its arguments",
  },
  json: { type: "boolean", description: "One JSON object a line" },
  url: { type: "string", valueHint: "url", description: "For add: a server that is reached by streamable HTTP" },
  env: {
    type: "string",
    repeatable: true,
    valueHint: "NAME=value",
    description: "For add: a variable of the program; ${NAME} in it is one of yours",
  },
  header: {
    type: "string",
    repeatable: true,
    valueHint: "name: value",
    description: "For add: a header of the requests; ${NAME} in it is a variable of yours",
  },
  "bearer-token-env": {
    type: "string",
    alias: "bearer-token-env-var",
    valueHint: "NAME",
    description: "For add: the variable that holds the token to send",
  },
  cwd: { type: "string", valueHint: "folder", description: "For add: the program's working directory" },
  "mcp-config": {
    type: "string",
    repeatable: true,
    valueHint: "file",
    description: "For list and check: further servers, from a file in the form of .mcp.json",
  },
  "trust-project": { type: "boolean", description: "For list and check: the project's servers count too" },
  help: { type: "boolean", alias: "h", description: "Print this help and exit" },
} as const;
type Flags = ParsedFlags<typeof args>;

export const mcp = defineCommand({
  meta: { name: "mcp", description: "List, add, remove or check MCP servers" },
  args,
  async run(flags, context) {
    const [action = "list", ...words] = context.words;
    switch (action) {
      case "list":
        if (words.length > 0) throw usage(`pi-ts mcp list takes no further words (${words.join(" ")})`);
        return list(await find(flags, context), flags.json ?? false, context);
      case "add":
        return add(words, flags, context);
      case "remove":
        return remove(words, flags, context);
      case "check":
        return check(words, flags, context);
      default: {
        const near = closest(action, actions);
        throw usage(
          `pi-ts mcp has no command ${action}`,
          near ? `Did you mean ${near}?` : `It has ${actions.join(", ")}.`,
        );
      }
    }
  },
});

async function find(flags: Flags, { cwd, env }: CliContext): Promise<McpServer[]> {
  const { findMcpServers } = await import("../app/mcp.ts");
  const trust = flags["trust-project"];
  return findMcpServers({ cwd, env, trust, files: flags["mcp-config"] ?? [], notify: (text) => log().warn(text) });
}

function list(servers: readonly McpServer[], json: boolean, context: CliContext): number {
  const { io } = context;
  if (json) {
    io.stdout(servers.map((server) => `${JSON.stringify(describe(server))}\n`).join(""));
    return 0;
  }
  const width = Math.max(0, ...servers.map(({ name }) => visibleLine(name).length));
  for (const server of servers) {
    const marks = [...(server.enabled ? [] : ["disabled"]), ...(server.required ? ["required"] : [])];
    const note = marks.length > 0 ? `  (${marks.join(", ")})` : "";
    io.stdout(`${visibleLine(server.name).padEnd(width)}  ${wayOf(server)}${note}  [${visibleLine(server.source)}]\n`);
  }
  if (servers.length === 0) {
    io.stderr("No MCP servers are configured; `pi-ts mcp add NAME -- command arguments` adds one.\n");
  }
  return 0;
}

/** How a server is reached, in one line without secrets. */
function wayOf(server: McpServer): string {
  const { transport, problem, secrets } = server;
  if (!transport) return `wrong: ${visibleLine(problem ?? "")}`;
  const text = transport.kind === "http" ? transport.url : [transport.command, ...transport.args].join(" ");
  return visibleLine(redact(text, secrets));
}

function describe(server: McpServer) {
  const { name, source, scope, enabled, required, transport, problem, secrets } = server;
  const hide = (text: string) => redact(text, secrets);
  const way =
    transport?.kind === "http"
      ? { transport: "http", url: hide(transport.url) }
      : { transport: "stdio", command: hide(transport?.command ?? ""), args: transport?.args.map(hide) };
  return { name, source, scope, enabled, required, ...(transport ? way : { error: problem }) };
}

async function add(words: readonly string[], flags: Flags, { io, env }: CliContext): Promise<number> {
  const [name, ...command] = words;
  const { url } = flags;
  if (name === undefined || name.trim() === "") throw usage("pi-ts mcp add needs a name", addHint);
  if ((url === undefined) === (command.length === 0)) {
    throw usage(
      url === undefined ? "pi-ts mcp add needs a program or a --url" : "A server has a --url or a program",
      addHint,
    );
  }
  const foreign = url === undefined ? ["header", "bearer-token-env"] : ["env", "cwd"];
  const wrong = foreign.find((flag) => flags[flag as keyof Flags] !== undefined);
  if (wrong) throw usage(`--${wrong} is for servers with a ${url === undefined ? "--url" : "program"}`);
  const [program, ...rest] = command;
  const table: McpTable = {
    command: program,
    args: rest.length > 0 ? rest : undefined,
    env: pairs("--env", flags.env, /^([^=]+)=(.*)$/s),
    cwd: flags.cwd,
    url,
    headers: pairs("--header", flags.header, /^([^:]+):\s*(.*)$/s),
    bearer_token_env: flags["bearer-token-env"],
  };
  const [{ editConfigFile }, { addMcpServer }] = await Promise.all([
    import("../app/edit-config.ts"),
    import("../config/mcp-edit.ts"),
  ]);
  const path = await editConfigFile(env, (text) => addMcpServer(text, name, table));
  const { resolveMcpServers } = await import("../config/mcp.ts");
  const [server] = resolveMcpServers([{ path, scope: "user", servers: { [name]: table } }], env);
  if (server?.problem) log().warn(`${name} cannot be reached as it is now: ${server.problem}`);
  tellChange({ added: name, path }, `added ${name} to ${path}; pi-ts mcp check ${name} tries it`, flags, io);
  return 0;
}

const addHint =
  "Such as: pi-ts mcp add files -- npx -y @modelcontextprotocol/server-filesystem . — or pi-ts mcp add docs --url https://…/mcp";

function pairs(flag: string, texts: readonly string[] | undefined, form: RegExp): Record<string, string> | undefined {
  if (!texts) return undefined;
  const entries = texts.map((text) => {
    const [, name, value] = form.exec(text) ?? [];
    if (name === undefined) {
      throw usage(`${flag} must be ${flag === "--env" ? "NAME=value" : "'name: value'"}, not '${redact(text)}'`);
    }
    return [name.trim(), value ?? ""];
  });
  return Object.fromEntries(entries);
}

async function remove(words: readonly string[], flags: Flags, context: CliContext): Promise<number> {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw usage("pi-ts mcp remove takes the name of one server");
  const elsewhere = (await find(flags, context)).find((server) => server.name === name && server.scope !== "user");
  const [{ editConfigFile }, { removeMcpServer }] = await Promise.all([
    import("../app/edit-config.ts"),
    import("../config/mcp-edit.ts"),
  ]);
  const path = await editConfigFile(context.env, (text) => {
    try {
      return removeMcpServer(text, name);
    } catch (error) {
      if (!elsewhere) throw error;
      throw usage(`The server ${name} is not one of your own: ${elsewhere.source} names it`, "Remove it there.");
    }
  });
  tellChange({ removed: name, path }, `removed ${name} from ${path}`, flags, context.io);
  return 0;
}

function tellChange(record: object, text: string, flags: Flags, io: CliContext["io"]): void {
  io.stdout(flags.json ? `${JSON.stringify(record)}\n` : `${forReader(text, io)}\n`);
}

/** Connects to all servers that are enabled, or to the named ones; 1 when one of them fails. */
async function check(names: readonly string[], flags: Flags, context: CliContext): Promise<number> {
  const { io, cwd, env } = context;
  const all = await find(flags, context);
  for (const name of names) {
    if (all.some((server) => server.name === name)) continue;
    const known = all.map((server) => server.name);
    const near = closest(name, known);
    throw usage(`There is no server ${name}`, near ? `Did you mean ${near}?` : "pi-ts mcp list shows those there are.");
  }
  const chosen = names.length > 0 ? all.filter(({ name }) => names.includes(name)) : all;
  const { checkMcpServers } = await import("../app/mcp.ts");
  let failed = false;
  await checkMcpServers(chosen, { cwd, env }, (server, report) => {
    if (report.state === "failed") failed = true;
    io.stdout(
      flags.json
        ? `${JSON.stringify({ ...describe(server), ...report })}\n`
        : forReader(formatReport(server, report), io),
    );
  });
  if (chosen.length === 0) io.stderr("No MCP servers are configured.\n");
  return failed ? 1 : 0;
}

function formatReport(server: McpServer, report: McpReport): string {
  const { state, tools, prompts, hasResources, error, notes } = report;
  const name = visibleLine(server.name);
  if (state === "failed") return `${name}: failed: ${visible(error ?? "").replaceAll("\n", "\n  ")}\n`;
  if (state !== "ready") return `${name}: ${state}\n`;
  const parts = [plural(tools.length, "tool")];
  if (prompts.length > 0) parts.push(plural(prompts.length, "prompt"));
  if (hasResources) parts.push("resources");
  const lines = tools.map((tool) => {
    const plain = tool.offeredAs.endsWith(`__${tool.name}`);
    return `  ${visibleLine(tool.offeredAs)}${plain ? "" : `  (its ${visibleLine(tool.name)})`}`;
  });
  return [`${name}: ready, ${parts.join(", ")}`, ...lines, ...notes.map((note) => `  ${visibleLine(note)}`), ""].join(
    "\n",
  );
}

function usage(message: string, hint?: string): AppError {
  return new AppError("usage", message, { hint });
}
