// What a server lists, as it is used: its tools and prompts, without what is not wanted or cannot be.
import { isObject } from "../../util/is-object.ts";
import type { McpServer } from "../../util/mcp-server.ts";
import { matchesAny } from "./names.ts";
import { type Parameters, toParameters } from "./parameters.ts";

export interface ServerTool extends Parameters {
  /** The name that the server knows. */
  readonly name: string;
  readonly description: string;
  /** The server says that it only reads, and its word counts. */
  readonly reads: boolean;
}

export interface ServerPrompt {
  readonly name: string;
  readonly description: string | undefined;
  readonly args: readonly { readonly name: string; readonly required: boolean }[];
}

type Json = Readonly<Record<string, unknown>>;

/** The tools that are wanted and can be offered, sorted by name; one that is as it was before is the same object. */
export function toTools(items: readonly Json[], config: McpServer, before: readonly ServerTool[]) {
  const isWanted = config.tools ? matchesAny(config.tools) : () => true;
  const isExcluded = matchesAny(config.excludeTools);
  const notes: string[] = [];
  const leaveOut = (name: string, why: string) =>
    void notes.push(`The tool ${name} of the MCP server ${config.name} is left out: ${why}`);
  const found = new Map<string, ServerTool>();
  for (const item of items) {
    const { name, title, description, inputSchema, annotations, execution } = item;
    if (typeof name !== "string" || name === "") {
      leaveOut("without a name", "it cannot be called");
      continue;
    }
    if (!isWanted(name) || isExcluded(name) || found.has(name)) continue;
    if (isObject(execution) && execution.taskSupport === "required") continue;
    const parameters = toParameters(inputSchema);
    if (!parameters) {
      leaveOut(name, "its input schema is not one of an object");
      continue;
    }
    const texts = [description, title, `The tool ${name} of the MCP server ${config.name}.`];
    const says = texts.find((text) => typeof text === "string" && text.trim() !== "") as string;
    const reads = config.trustAnnotations && isObject(annotations) && annotations.readOnlyHint === true;
    const tool = { name, description: says.toWellFormed().replaceAll("\0", ""), reads, ...parameters };
    const known = before.find((other) => other.name === name);
    found.set(name, known && isSame(known, tool) ? known : tool);
  }
  const tools = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { tools, notes };
}

function isSame(one: ServerTool, other: ServerTool): boolean {
  return one.description === other.description && one.reads === other.reads && Bun.deepEquals(one.schema, other.schema);
}

export function toPrompt({ name, description, title, arguments: args }: Json): ServerPrompt[] {
  if (typeof name !== "string" || name === "") return [];
  const text = typeof description === "string" ? description : title;
  return [
    {
      name,
      description: typeof text === "string" ? text : undefined,
      args: (Array.isArray(args) ? args : []).flatMap((arg) =>
        isObject(arg) && typeof arg.name === "string" ? [{ name: arg.name, required: arg.required === true }] : [],
      ),
    },
  ];
}
