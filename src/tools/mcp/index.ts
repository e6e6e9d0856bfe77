// All MCP servers of a run: connected side by side, their tools and prompts under names of their own, ended together.
import type { ToolSpec } from "../../protocol/message.ts";
import { AppError } from "../../util/error.ts";
import type { McpServer } from "../../util/mcp-server.ts";
import { unlessAborted } from "../../util/unless-aborted.ts";
import type { Tool, ToolSet } from "../tool.ts";
import type { ServerPrompt } from "./lists.ts";
import { offeredNames } from "./names.ts";
import { fillPrompt } from "./prompts.ts";
import { resourceTools, toSpec } from "./resources.ts";
import { createServer, type Server, type ServerHost } from "./server.ts";
import { toTool } from "./server-tool.ts";

export type { Server } from "./server.ts";

/** A server's prompt under the name that the user says. */
export interface OfferedPrompt {
  readonly name: string;
  readonly description: string | undefined;
  readonly server: McpServer;
}

export interface Mcp {
  /**
   * Resolves when every server is there or has failed, and the lists that they said have changed are read. Throws `AppError` `mcp` when one that is
   * required is not there, and what the aborted `signal` says.
   */
  ready(signal: AbortSignal): Promise<void>;
  /** Those that are still connecting. */
  pending(): string[];
  /** The tools of this moment; the same object as long as they are the same. */
  tools(): ToolSet;
  /** Whether a tool of this name only reads, by a word that counts. */
  reads(toolName: string): boolean;
  /** What servers say of themselves; undefined when they say nothing. */
  instructions(): string | undefined;
  prompts(): readonly OfferedPrompt[];
  /** What is said with the prompt of this name. Throws `AppError`. */
  fillPrompt(name: string, words: readonly string[]): Promise<string>;
  /** What the user should know since the last time. */
  takeNotices(): string[];
  /** One entry for each server, with the names that its tools have for the model. */
  servers(): readonly { readonly server: Server; readonly offered: ReadonlyMap<string, string> }[];
  /** Resolves when nothing of any server is left. */
  close(): Promise<void>;
}

/** How long a changed list is waited for between two turns. */
const refreshMs = 5000;
/** Renamed tools that a notice names. */
const namedRenames = 3;
const longestInstructions = 4000;

/** Starts to connect to all of `configs` at once. */
export function createMcp(
  configs: readonly McpServer[],
  options: Omit<ServerHost, "onChange" | "debug"> & { readonly isDebug: boolean },
): Mcp {
  const notices: string[] = [];
  const told = new Set<string>();
  const tell = (text: string) => {
    if (!told.has(text)) notices.push(text);
    told.add(text);
  };
  let isStale = true;
  const host: ServerHost = {
    ...options,
    debug: (text) => options.isDebug && tell(text),
    onChange() {
      isStale = true;
    },
  };
  // Names do not depend on where a server stands in a file.
  const servers = configs
    .map((config) => createServer(config, host))
    .sort((a, b) => (a.config.name < b.config.name ? -1 : 1));
  const waiting = new Set(servers);
  /** Why servers that are required did not come. One that dies later is another matter, since it is started again when it is needed. */
  const missing = new Map<Server, string>();
  for (const server of servers) {
    void server.started.then(() => {
      waiting.delete(server);
      const failure = server.failure();
      if (failure === undefined) return;
      if (server.config.required) missing.set(server, failure);
      else tell(`The MCP server ${server.config.name} is left out: ${failure}`);
    });
  }
  let offer: Offer = {
    specs: [],
    load: async () => undefined,
    tools: new Map(),
    reads: new Set(),
    prompts: new Map(),
    offered: new Map(),
  };
  const ofResources = resourceTools(() => servers);

  function current(): Offer {
    if (isStale) {
      isStale = false;
      const next = makeOffer(servers, servers.some((server) => server.hasResources()) ? ofResources : []);
      offer = Bun.deepEquals(next.specs, offer.specs) ? { ...next, specs: offer.specs } : next;
      for (const server of servers) {
        for (const note of server.notes()) tell(note);
        const renames = renamesOf(server, offer);
        if (renames !== undefined) tell(renames);
      }
    }
    return offer;
  }

  return {
    async ready(signal) {
      await unlessAborted(Promise.all(servers.map(({ started }) => started)), signal);
      for (const [{ config }, reason] of missing) {
        throw new AppError("mcp", `The MCP server ${config.name} is required, and is not there: ${reason}`, {
          hint: `pi-ts mcp check ${config.name} tries it alone; without required = true in its table a run goes on without it.`,
        });
      }
      // What has come in the meantime is dealt with first.
      await new Promise(setImmediate);
      const refreshed = Promise.all(servers.map((server) => server.refreshed()));
      await unlessAborted(Promise.race([refreshed, Bun.sleep(refreshMs)]), signal);
    },
    pending: () => [...waiting].map(({ config }) => config.name),
    tools: current,
    reads: (name) => current().reads.has(name),
    instructions() {
      const texts = servers.flatMap((server) => {
        const text = server.instructions()?.trim();
        return text
          ? [`Instructions of the MCP server ${server.config.name}:\n\n${text.slice(0, longestInstructions)}`]
          : [];
      });
      return texts.length > 0 ? texts.join("\n\n") : undefined;
    },
    prompts: () =>
      [...current().prompts].map(([name, { server, prompt }]) => ({
        name,
        description: prompt.description,
        server: server.config,
      })),
    async fillPrompt(name, words) {
      const found = current().prompts.get(name);
      if (!found) throw new AppError("usage", `There is no prompt ${name}`);
      return fillPrompt(name, found.prompt, words, found.server);
    },
    takeNotices() {
      current();
      return notices.splice(0);
    },
    servers: () => servers.map((server) => ({ server, offered: current().offered.get(server) ?? new Map() })),
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

interface Offer extends ToolSet {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly reads: ReadonlySet<string>;
  readonly prompts: ReadonlyMap<string, { readonly server: Server; readonly prompt: ServerPrompt }>;
  /** By server: its tools' names for the model, by their true ones. */
  readonly offered: ReadonlyMap<Server, ReadonlyMap<string, string>>;
}

/** Everything in the order of names, so that no request depends on which server was faster. */
function makeOffer(servers: readonly Server[], further: ReturnType<typeof resourceTools>): Offer {
  const all = servers.flatMap((server) => server.tools().map((tool) => ({ server, tool })));
  const configured = servers.map(({ config }) => config.name);
  const names = offeredNames(
    all.map(({ server, tool }) => ({ server: server.config.name, name: tool.name })),
    configured,
  );
  const tools = new Map<string, Tool>(further.map((tool) => [tool.name, tool]));
  const offered = new Map<Server, Map<string, string>>(servers.map((server) => [server, new Map()]));
  const specs: ToolSpec[] = further.map(toSpec);
  all.forEach(({ server, tool }, i) => {
    const name = names[i];
    if (name === undefined) return;
    tools.set(name, toTool(name, tool, server));
    offered.get(server)?.set(tool.name, name);
    specs.push({ name, description: tool.description, parameters: tool.schema });
  });
  const prompts = servers.flatMap((server) => server.prompts().map((prompt) => ({ server, prompt })));
  const promptNames = offeredNames(
    prompts.map(({ server, prompt }) => ({ server: server.config.name, name: prompt.name })),
    configured,
  );
  return {
    specs: specs.sort((a, b) => (a.name < b.name ? -1 : 1)),
    load: async (name) => tools.get(name),
    tools,
    reads: new Set([...tools.values()].filter(({ access }) => access === "read").map(({ name }) => name)),
    prompts: new Map(
      prompts.flatMap((entry, i) => {
        const name = promptNames[i];
        return name === undefined ? [] : [[name, entry] as const];
      }),
    ),
    offered,
  };
}

/** Says which tools have another name for the model, since theirs would make whole requests fail. */
function renamesOf(server: Server, { offered }: Offer): string | undefined {
  const renamed = [...(offered.get(server) ?? [])].filter(([name, given]) => !given.endsWith(`__${name}`));
  if (renamed.length === 0) return undefined;
  const shown = renamed.slice(0, namedRenames).map(([name, given]) => `${name} is ${given}`);
  const more = renamed.length > shown.length ? `, and ${renamed.length - shown.length} more` : "";
  return `The MCP server ${server.config.name} has tools with names that providers refuse; for the model ${shown.join(", ")}${more}`;
}
