// What servers have to read, by two tools of ours: one that lists it, one that reads.
import * as z from "zod/mini";
import type { ToolSpec } from "../../protocol/message.ts";
import { type DefinedTool, defineTool } from "../define-tool.ts";
import { toolError } from "../tool.ts";
import { describeLink, showResource } from "./result.ts";
import type { Server } from "./server.ts";

const serverName = z.string().check(z.describe("The server's name"));

/** The tools for the servers that have resources, `servers` those of the moment. */
export function resourceTools(servers: () => readonly Server[]): readonly DefinedTool[] {
  const withResources = () => servers().filter((server) => server.hasResources());

  function find(name: string): Server {
    const server = withResources().find(({ config }) => config.name === name);
    if (server) return server;
    const names = withResources().map(({ config }) => config.name);
    throw toolError(`there is no MCP server ${name} with resources; those with some are ${names.join(", ") || "none"}`);
  }

  const list = defineTool({
    name: "mcp__list_resources",
    access: "read",
    description: "Lists the resources of MCP servers (documents, records and other data to read) with their URIs.",
    input: z.strictObject({ server: z.optional(serverName) }),
    summarize: ({ server = "" }) => server,
    async run({ server }, { signal }) {
      const chosen = server === undefined ? withResources() : [find(server)];
      const texts = await Promise.all(chosen.map((each) => describeResources(each, signal)));
      return { text: texts.join("\n\n") || "There are no resources" };
    },
  });

  const read = defineTool({
    name: "mcp__read_resource",
    access: "execute",
    description: "Reads one resource of an MCP server by its URI, as mcp__list_resources names it.",
    input: z.strictObject({ server: serverName, uri: z.string().check(z.describe("The resource's URI")) }),
    summarize: ({ server, uri }) => `${server} ${uri}`,
    async run({ server, uri }, { signal, acceptsImages }) {
      const contents = await find(server).ask((connection, limits) => connection.readResource(uri, limits), { signal });
      const shown = [];
      for (const content of contents) shown.push(await showResource(content, acceptsImages));
      const images = shown.flatMap((each) => each.images ?? []);
      const text = shown.map((each) => each.text).join("\n") || "The resource is empty";
      return { text, ...(images.length > 0 ? { images } : {}) };
    },
  });

  return [list, read];
}

/** The server's resources and the patterns of those that it makes when asked, one a line. */
async function describeResources(server: Server, signal: AbortSignal): Promise<string> {
  const { config } = server;
  const resources = await server.ask((connection, limits) => connection.list("resources", limits), { signal });
  // Not every server knows of these.
  const templates = await server
    .ask((connection, limits) => connection.list("resourceTemplates", limits), { signal })
    .catch(() => []);
  signal.throwIfAborted();
  const lines = [
    ...resources.map(describeLink),
    ...templates.map((template) => describeLink({ ...template, uri: template.uriTemplate })),
  ];
  return [`${config.name}:`, ...(lines.length > 0 ? lines : ["(no resources)"])].join("\n");
}

export function toSpec({ name, description, input }: DefinedTool): ToolSpec {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return { name, description, parameters };
}
