// `.mcp.json` and its like: `{ "mcpServers": { NAME: … } }`, as other programs write it too. Loaded only when there is such a file.
import * as z from "zod/mini";
import { AppError } from "../util/error.ts";
import { isObject } from "../util/is-object.ts";
import type { McpSource, McpTable } from "./mcp.ts";

const texts = z.record(z.string(), z.string());
const seconds = z.number().check(z.nonnegative());

/** What is known of a server; the files of others have further keys, which mean nothing here. */
const Entry = z.object({
  type: z.optional(z.string()),
  command: z.optional(z.string()),
  args: z.optional(z.array(z.string())),
  env: z.optional(texts),
  cwd: z.optional(z.string()),
  url: z.optional(z.string()),
  headers: z.optional(texts),
  bearer_token_env: z.optional(z.string()),
  tools: z.optional(z.array(z.string())),
  exclude_tools: z.optional(z.array(z.string())),
  startup_timeout: z.optional(seconds),
  call_timeout: z.optional(seconds),
  required: z.optional(z.boolean()),
  enabled: z.optional(z.boolean()),
  disabled: z.optional(z.boolean()),
  trust_annotations: z.optional(z.boolean()),
});

export interface McpJson extends McpSource {
  /** What is wrong with single servers, which are left out. */
  readonly problems: readonly string[];
}

/** Throws `AppError` `config` for a text that is no such file at all. */
export function parseMcpJson(text: string, path: string, scope: McpSource["scope"]): McpJson {
  const entries = entriesOf(text, path);
  const servers: Record<string, McpTable> = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(entries)) {
    const parsed = z.safeParse(Entry, value);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      const key = issue?.path.join(".");
      const what = key ? `'${key}'` : "it";
      const expected = issue?.code === "invalid_type" ? `must be of type ${issue.expected}` : "is invalid";
      problems.push(`${path}: the server ${name} is left out: ${what} ${expected}`);
      continue;
    }
    const { type, disabled, ...table } = parsed.data;
    if (type === "sse") {
      problems.push(
        `${path}: the server ${name} is left out: the transport sse is not supported; many servers offer streamable HTTP at a URL that ends in /mcp`,
      );
    } else servers[name] = { ...table, ...(disabled === undefined ? {} : { enabled: !disabled }) };
  }
  return { path, scope, servers, problems };
}

function entriesOf(text: string, path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(path, `not valid JSON: ${(error as Error).message}`);
  }
  const servers = isObject(value) ? value.mcpServers : undefined;
  if (!isObject(servers)) throw wrong(path, "it has no object mcpServers");
  return servers;
}

function wrong(path: string, why: string): AppError {
  return new AppError("config", `${path}: ${why}`, {
    hint: 'Its form is {"mcpServers": {"NAME": {"command": "…", "args": ["…"]}}}, or with a "url" in the place of the command.',
  });
}
