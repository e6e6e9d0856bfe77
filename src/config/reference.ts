// What each key of config.toml means: the text of the README's reference and of `pi-ts doctor`. Apart from the schema, so that no start
// pays for words; a key without a description is a type error here.
import type { Flags } from "./config.ts";
import type { ConfigFile } from "./file.ts";

export interface KeyReference {
  /** One line of Markdown. */
  readonly meaning: string;
  /** What counts where no layer says anything, as it would be written in the file or in words; left out where nothing does. */
  readonly default?: string;
  /** The flag that wins over the key. */
  readonly flag?: keyof Flags;
  /** The environment variable that wins over the key. */
  readonly variable?: string;
}

type Reference<Table> = { readonly [Key in keyof Required<Table>]: KeyReference };

type Providers = NonNullable<ConfigFile["providers"]>;
export type ProviderTable = Providers[string];
type McpTable = NonNullable<ConfigFile["mcp"]>[string];
type ModelTable = Exclude<NonNullable<ProviderTable["models"]>[number], string>;

/** The keys outside of any table, but for those that are tables. */
export type TopLevelKey = Exclude<keyof ConfigFile, "permissions" | "providers" | "mcp">;

export const topLevelReference: Reference<Pick<ConfigFile, TopLevelKey>> = {
  provider: {
    meaning: "The provider of new sessions: one of the catalog, or a `[providers.NAME]` table",
    default: '"anthropic"',
    flag: "provider",
    variable: "PI_PROVIDER",
  },
  model: {
    meaning: "The model of new sessions, also as `provider/model`",
    default: "the provider's",
    flag: "model",
    variable: "PI_MODEL",
  },
  max_tokens: {
    meaning: "Most tokens an answer may have",
    default: "8192, or the model's limit where that is lower",
    flag: "maxTokens",
    variable: "PI_MAX_TOKENS",
  },
  max_turns: { meaning: "Most turns of one prompt", default: "100", flag: "maxTurns" },
  max_tool_calls: {
    meaning: "Most tool calls of one prompt, see [Unattended runs](#unattended-runs)",
    default: "none",
    flag: "maxToolCalls",
  },
  timeout: {
    meaning: 'Most time of one prompt: seconds, or a text such as `"10m"`',
    default: "none",
    flag: "timeout",
  },
  max_cost: { meaning: "US dollars that one prompt may cost", default: "none", flag: "maxCost" },
  max_tool_output: { meaning: "Most characters of a tool's result", default: "100000", flag: "maxToolOutput" },
  temperature: { meaning: "How freely the model chooses its words", default: "the model's" },
  thinking: { meaning: "How much the model thinks", default: "the model's own way", flag: "thinking" },
  max_retries: {
    meaning: "How often a request that failed for a passing reason is sent again",
    default: "3",
    flag: "maxRetries",
  },
  quiet: { meaning: "No tool activity and notices on stderr", default: "false", flag: "quiet" },
  markdown: {
    meaning: "Whether a conversation shows the Markdown of answers as what it means, or as written",
    default: "true",
    flag: "markdown",
  },
  context_files: { meaning: "Whether AGENTS.md files are read into the prompt", default: "true", flag: "contextFiles" },
  auto_compact: {
    meaning: "Whether a conversation that no longer fits the model's context is compacted by itself",
    default: "true",
    flag: "autoCompact",
  },
  env_pass: { meaning: "Variables that commands get although they hold a key", default: "[]" },
  sandbox: { meaning: "Run commands in a [sandbox](#sandbox)", default: "false", flag: "sandbox" },
  sandbox_net: {
    meaning: "Let commands in the sandbox reach the network",
    default: "false",
    flag: "sandboxNet",
  },
};

export const permissionsReference: Reference<NonNullable<ConfigFile["permissions"]>> = {
  allow: { meaning: "[Rules](#rules) for what runs without asking; those of all layers count together", flag: "allow" },
  deny: { meaning: "Rules for what never runs", flag: "deny" },
};

export const providerReference: Reference<ProviderTable> = {
  base_url: {
    meaning: "Where the API is, up to the part before `/chat/completions` or `/messages`",
    default: "the catalog's",
    flag: "baseUrl",
    variable: "PI_BASE_URL",
  },
  api: { meaning: "The API it speaks", default: 'the catalog\'s, else `"openai-completions"`' },
  api_key_env: {
    meaning: "The variable that holds the key; without one a provider outside the catalog needs no key",
    default: "the catalog's",
  },
  models: {
    meaning: "Its models: names, or tables with what is known of them; the first is its default",
    default: "the catalog's",
  },
  first_byte_timeout: {
    meaning: "Seconds until the first byte of an answer's body, 0 = no limit",
    default: "600",
    variable: "PI_FIRST_BYTE_TIMEOUT",
  },
  idle_timeout: {
    meaning: "Seconds of silence after that, 0 = no limit",
    default: "300",
    variable: "PI_IDLE_TIMEOUT",
  },
  headers: {
    meaning:
      "Further headers; a value `$NAME` is taken from the environment. Such values, and those of headers named like a key, token or cookie, are hidden in errors and recordings",
  },
  ca: { meaning: "PEM file of further authorities, relative to the config file's folder" },
  client_cert: { meaning: "PEM file of the client's certificate, with its key or beside `client_key`" },
  client_key: { meaning: "PEM file of that certificate's key" },
  max_tokens_field: { meaning: "The field of the output limit", default: '"max_tokens"' },
  calls_only_content: { meaning: "What stands for the text of an answer that only called tools", default: '"null"' },
  reasoning_replay: {
    meaning: "Whether earlier reasoning is sent back; `required` sends it even when empty",
    default: '"always"',
  },
  tool_schema: { meaning: "The JSON Schema that tools may use", default: '"full"' },
  system_role: { meaning: "The role of the system prompt", default: '"system"' },
  strict_tools: { meaning: 'Whether tools say `"strict": false`', default: '"omit"' },
  stream_usage: { meaning: "Whether token counts are asked for with `stream_options`", default: "true" },
  thinking_format: { meaning: "How a thinking level is asked for", default: '"reasoning_effort"' },
};

export const mcpReference: Reference<McpTable> = {
  command: { meaning: "The program, started without a shell; a server has this or `url`" },
  args: { meaning: "Its arguments", default: "[]" },
  env: { meaning: "Variables it gets beside yours; keys only when they are named here" },
  cwd: { meaning: "Its folder, relative to that of the file", default: "the working directory" },
  url: { meaning: "Where it is, for one that is reached by streamable HTTP. Signing in by OAuth is not supported" },
  headers: { meaning: "Headers of every request to it" },
  bearer_token_env: { meaning: "The variable whose token is sent to it as `Authorization`" },
  tools: {
    meaning: "The only tools to offer, by the server's names for them; `*` stands for any characters",
    default: "all",
  },
  exclude_tools: { meaning: "Tools not to offer, in the same way", default: "[]" },
  startup_timeout: { meaning: "Seconds until it has named its tools, 0 = no limit", default: "60" },
  call_timeout: { meaning: "Seconds of a call without an answer or a sign of progress, 0 = no limit", default: "300" },
  required: { meaning: "Whether no prompt is begun without it", default: "false" },
  enabled: { meaning: "Whether it is used at all", default: "true" },
  trust_annotations: {
    meaning:
      "Whether it is believed which of its tools only read: these run without a question, also with `--read-only`",
    default: "false",
  },
};

export const modelReference: Reference<ModelTable> = {
  id: { meaning: "The model's id, as the provider knows it" },
  context_window: { meaning: "Tokens that fit into its context", default: "the catalog's, else 128000" },
  max_tokens: { meaning: "Tokens that its answer may have", default: "the catalog's, else 16384" },
  reasoning: { meaning: "Whether it can think", default: "the catalog's, else whether `--thinking` is given" },
  input: { meaning: "What it takes", default: 'the catalog\'s, else `["text"]`' },
  cost: { meaning: "Its prices in US dollars per million tokens", default: "the catalog's, else none" },
};

export const costReference: Reference<NonNullable<ModelTable["cost"]>> = {
  input: { meaning: "Of tokens that are sent" },
  output: { meaning: "Of tokens that come back" },
  cache_read: { meaning: "Of tokens that are read from the cache", default: "0" },
  cache_write: { meaning: "Of tokens that are written to the cache", default: "0" },
};

/** A flag as it is typed: `--max-tokens`; of a switch that is on by itself, the form that turns it off. */
export function flagName({ flag, default: preset }: KeyReference): string | undefined {
  if (flag === undefined) return undefined;
  const name = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return preset === "true" ? `--no-${name}` : `--${name}`;
}
