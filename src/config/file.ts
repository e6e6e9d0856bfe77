// config.toml: its schema, and the one clear error a wrong file gets. Loaded only when the file exists.
import { readFileSync, statSync } from "node:fs";
import * as z from "zod/mini";
import { thinkingLevels } from "../protocol/thinking-level.ts";
import { AppError } from "../util/error.ts";
import { lineOfKey, lineOfSyntaxError } from "./locate.ts";

const positive = z.int().check(z.positive());
const limitSeconds = z.number().check(z.nonnegative());
const price = z.number().check(z.nonnegative());

const ModelTable = z.strictObject({
  id: z.string(),
  context_window: z.optional(positive),
  max_tokens: z.optional(positive),
  reasoning: z.optional(z.boolean()),
  input: z.optional(z.array(z.enum(["text", "image"]))),
  cost: z.optional(
    z.strictObject({
      input: price,
      output: price,
      cache_read: z.optional(price),
      cache_write: z.optional(price),
    }),
  ),
});

/** How a server differs on the chat-completions wire, see the providers' own table of these. */
const quirks = {
  max_tokens_field: z.optional(z.enum(["max_tokens", "max_completion_tokens"])),
  calls_only_content: z.optional(z.enum(["null", "empty", "omit"])),
  reasoning_replay: z.optional(z.enum(["always", "required", "never"])),
  tool_schema: z.optional(z.enum(["full", "gemini"])),
  system_role: z.optional(z.enum(["system", "developer"])),
  strict_tools: z.optional(z.enum(["omit", "false"])),
  stream_usage: z.optional(z.boolean()),
  thinking_format: z.optional(z.enum(["none", "reasoning_effort", "thinking_type"])),
};
const QuirkTable = z.object(quirks);
export type QuirkTable = z.infer<typeof QuirkTable>;

const texts = z.record(z.string(), z.string());
const names = z.array(z.string());

const ProviderTable = z.strictObject({
  ...quirks,
  base_url: z.optional(z.string()),
  api: z.optional(z.enum(["openai-completions", "anthropic-messages"])),
  api_key_env: z.optional(z.string()),
  models: z.optional(z.array(z.union([z.string(), ModelTable]))),
  first_byte_timeout: z.optional(limitSeconds),
  idle_timeout: z.optional(limitSeconds),
  headers: z.optional(texts),
  ca: z.optional(z.string()),
  client_cert: z.optional(z.string()),
  client_key: z.optional(z.string()),
});

const McpTable = z.strictObject({
  command: z.optional(z.string()),
  args: z.optional(names),
  env: z.optional(texts),
  cwd: z.optional(z.string()),
  url: z.optional(z.string()),
  headers: z.optional(texts),
  bearer_token_env: z.optional(z.string()),
  tools: z.optional(names),
  exclude_tools: z.optional(names),
  startup_timeout: z.optional(limitSeconds),
  call_timeout: z.optional(limitSeconds),
  required: z.optional(z.boolean()),
  enabled: z.optional(z.boolean()),
  trust_annotations: z.optional(z.boolean()),
});

export const ConfigFile = z.strictObject({
  provider: z.optional(z.string()),
  model: z.optional(z.string()),
  max_tokens: z.optional(positive),
  max_turns: z.optional(positive),
  max_tool_calls: z.optional(positive),
  /** Seconds, or as `--timeout` takes it. */
  timeout: z.optional(z.union([z.number(), z.string()])),
  max_cost: z.optional(z.number().check(z.positive())),
  max_tool_output: z.optional(positive),
  temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
  thinking: z.optional(z.enum(thinkingLevels)),
  max_retries: z.optional(z.int().check(z.nonnegative())),
  quiet: z.optional(z.boolean()),
  markdown: z.optional(z.boolean()),
  context_files: z.optional(z.boolean()),
  auto_compact: z.optional(z.boolean()),
  env_pass: z.optional(z.array(z.string())),
  sandbox: z.optional(z.boolean()),
  sandbox_net: z.optional(z.boolean()),
  permissions: z.optional(
    z.strictObject({ allow: z.optional(z.array(z.string())), deny: z.optional(z.array(z.string())) }),
  ),
  providers: z.optional(z.record(z.string(), ProviderTable)),
  mcp: z.optional(z.record(z.string(), McpTable)),
});
export type ConfigFile = z.infer<typeof ConfigFile>;

export function readConfigFile(path: string): string {
  try {
    // Something that is no file, such as a FIFO, could keep the start waiting for ever.
    if (!statSync(path).isFile()) throw new Error("it is not a regular file");
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("config", `Cannot read ${path}: ${(error as Error).message}`);
  }
}

/** Checks the text of a config file; throws `AppError` `config` naming the file and the line or key. */
export function parseConfigFile(text: string, path: string): ConfigFile {
  const parsed = z.safeParse(ConfigFile, parseToml(text, path));
  if (parsed.success) return parsed.data;
  const issue = innermost(parsed.error.issues[0]!);
  const keys = [...issue.path, ...(issue.code === "unrecognized_keys" ? [issue.keys[0]!] : [])];
  throw new AppError("config", `${path}${atLine(lineOfKey(text, keys))}: ${describe(issue, keys.join("."))}`, {
    hint: "Correct the file; the README lists its keys.",
  });
}

function parseToml(text: string, path: string): unknown {
  try {
    return Bun.TOML.parse(text);
  } catch (error) {
    const line = lineOfSyntaxError(text, isToml);
    const reason = (error as Error).message.replace(/^TOML Parse error: /, "");
    throw new AppError("config", `${path}${atLine(line)}: not valid TOML: ${reason}`);
  }
}

function isToml(text: string): boolean {
  try {
    Bun.TOML.parse(text);
    return true;
  } catch {
    return false;
  }
}

function atLine(line: number | undefined): string {
  return line === undefined ? "" : `:${line}`;
}

/** Where one form of a value went further than the others (a table with a wrong key in it), its issue says more than "no form matched". */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors.flat().find(({ path, code }) => path.length > 0 || code === "unrecognized_keys");
  return inner ? innermost({ ...inner, path: [...issue.path, ...inner.path] }) : issue;
}

function describe(issue: z.core.$ZodIssue, key: string): string {
  switch (issue.code) {
    case "unrecognized_keys":
      return `unknown key '${key}'`;
    case "invalid_type":
      return `'${key}' must be of type ${issue.expected}`;
    case "invalid_value":
      return `'${key}' must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "invalid_union":
      return `'${key}' must be ${key === "timeout" ? 'seconds or a text such as "10m"' : "a text or a table"}`;
    case "too_small":
      return `'${key}' must be ${issue.inclusive ? "at least" : "above"} ${issue.minimum}`;
    case "too_big":
      return `'${key}' must be at most ${issue.maximum}`;
    default:
      return `'${key}' is invalid`;
  }
}
