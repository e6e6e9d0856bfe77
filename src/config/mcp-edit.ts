// Adding and removing a server in the text of config.toml, everything else left as it is. Pure; each result is parsed again before it counts.
import { AppError } from "../util/error.ts";
import type { McpTable } from "./mcp.ts";

/** The text with a table for the server at its end. Throws `AppError` `usage` when it has one of this name already. */
export function addMcpServer(text: string, name: string, table: McpTable): string {
  const before = parse(text);
  if (Object.hasOwn(serversOf(before), name)) {
    throw new AppError("usage", `There is a server ${name} already`, {
      hint: `Remove it first: pi-ts mcp remove ${name}`,
    });
  }
  const lines = Object.entries(table).flatMap(([key, value]) =>
    value === undefined || isEmpty(value) ? [] : [`${key} = ${toToml(value)}`],
  );
  const gap = text === "" || text.endsWith("\n\n") ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  const result = `${text}${gap}[mcp.${toKey(name)}]\n${lines.join("\n")}\n`;
  const wanted = { ...before, mcp: { ...serversOf(before), [name]: parse(lines.join("\n")) } };
  if (!Bun.deepEquals(tryParse(result), wanted)) throw byHand(`[mcp.${name}] cannot be added`);
  return result;
}

/** The text without the server's table and what belongs to it. Throws `AppError` `usage` when there is none, or it is written in another way. */
export function removeMcpServer(text: string, name: string): string {
  const before = parse(text);
  const { [name]: removed, ...others } = serversOf(before);
  if (removed === undefined) throw new AppError("usage", `There is no server ${name}`);
  const lines = text.split("\n");
  const kept: string[] = [];
  for (let at = 0; at < lines.length; ) {
    if (!isTableOf(lines[at], name)) {
      kept.push(lines[at++] ?? "");
      continue;
    }
    let end = at + 1;
    while (end < lines.length && !isHeader(lines[end])) end++;
    // Comments right in front of what follows belong to that.
    const isLast = end === lines.length;
    while (!isLast && end > at + 1 && /^\s*#/.test(lines[end - 1] ?? "")) end--;
    at = end;
  }
  const result = kept.join("\n").replace(/\n{3,}$/, "\n\n");
  const after = tryParse(result);
  const isRight = after && Bun.deepEquals({ ...after, mcp: serversOf(after) }, { ...before, mcp: others });
  if (!isRight) throw byHand(`The server ${name} is not a table of its own`);
  return result;
}

function isHeader(line = ""): boolean {
  return /^\s*\[/.test(line);
}

/** Whether a line begins the server's table or one inside it. */
function isTableOf(line = "", name: string): boolean {
  const servers = isHeader(line) ? tryParse(line)?.mcp : undefined;
  return typeof servers === "object" && servers !== null && Object.hasOwn(servers, name);
}

type Table = Record<string, unknown>;

function serversOf(file: Table): Table {
  return (file.mcp as Table | undefined) ?? {};
}

function parse(text: string): Table {
  return Bun.TOML.parse(text) as Table;
}

function tryParse(text: string): Table | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([key, inner]) => `${toKey(key)} = ${toToml(inner)}`);
    return `{ ${pairs.join(", ")} }`;
  }
  // A JSON string is a TOML one, but for this character.
  return JSON.stringify(value).replaceAll("\x7f", "\\u007f");
}

function toKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : toToml(name);
}

function byHand(what: string): AppError {
  return new AppError("usage", `${what} in config.toml`, { hint: "Edit the file by hand." });
}
