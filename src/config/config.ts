// The configuration of a run: flags over environment over config.toml over defaults, as one frozen object.
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ThinkingLevel } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import { homeDirectory } from "../util/home.ts";
import { type ChoiceLayer, chooseModel } from "./choose-model.ts";
import type { ConfigFile, QuirkTable } from "./file.ts";
import { type McpSource, mcpSources } from "./mcp.ts";
import { absolutePaths, headerKeyVariables, type NetworkConfig, resolveNetwork } from "./network.ts";
import { type PermissionConfig, resolvePermissions } from "./permissions.ts";
import { checkUrl, count, dollars, duration, thinkingLevel, timeout } from "./values.ts";

/** Flags as the command line gave them; numbers are still text. */
export interface Flags {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly maxTokens?: string | undefined;
  readonly maxTurns?: string | undefined;
  readonly maxToolCalls?: string | undefined;
  /** Such as `90`, `90s`, `10m` or `1h`. */
  readonly timeout?: string | undefined;
  readonly maxCost?: string | undefined;
  readonly maxToolOutput?: string | undefined;
  readonly maxRetries?: string | undefined;
  readonly thinking?: string | undefined;
  readonly yolo?: boolean | undefined;
  readonly readOnly?: boolean | undefined;
  /** Names with commas between them. */
  readonly tools?: string | undefined;
  readonly excludeTools?: string | undefined;
  /** Only the tools that are named. */
  readonly noTools?: boolean | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly sandbox?: boolean | undefined;
  readonly sandboxNet?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly markdown?: boolean | undefined;
  readonly contextFiles?: boolean | undefined;
  readonly autoCompact?: boolean | undefined;
  /** In the place of our own system prompt. */
  readonly systemPrompt?: string | undefined;
  /** Behind the system prompt. */
  readonly appendSystemPrompt?: readonly string[] | undefined;
  /** Absolute paths of files and folders. */
  readonly skills?: readonly string[] | undefined;
  readonly noSkills?: boolean | undefined;
  readonly promptTemplates?: readonly string[] | undefined;
  readonly noPromptTemplates?: boolean | undefined;
}

/** A provider as it will be reached. Times are milliseconds, 0 = no limit. */
export interface ProviderConfig extends NetworkConfig {
  readonly name: string;
  readonly api: string;
  readonly baseUrl: string;
  /** The variable its key comes from; none for a server that needs no key. */
  readonly keyEnv: string | undefined;
  readonly apiKey: string | undefined;
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** What config.toml says of its dialect, by the keys used there. */
  readonly quirks: QuirkTable;
}

export interface Config {
  /** `$PI_TS_HOME`, default `~/.pi-ts`. */
  readonly home: string;
  readonly provider: ProviderConfig;
  readonly model: Model;
  /** Whether the catalog or config.toml knows what the model costs; its prices are 0 otherwise. */
  readonly isPriceKnown: boolean;
  /** Tokens an answer may have. */
  readonly maxTokens: number;
  /** The limits of one prompt; undefined for none. The time is that of the clock, in milliseconds, and the cost in US dollars. */
  readonly maxTurns: number;
  readonly maxToolCalls: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxCost: number | undefined;
  /** Characters a tool's result may have. */
  readonly maxToolOutput: number;
  readonly temperature: number | undefined;
  /** Undefined leaves it to the model. */
  readonly thinkingLevel: ThinkingLevel | undefined;
  /** How often a request that failed for a passing reason is sent again. */
  readonly maxRetries: number;
  readonly permissions: PermissionConfig;
  readonly quiet: boolean;
  /** Whether a conversation shows the Markdown of answers as what it means. */
  readonly markdown: boolean;
  /** Whether AGENTS.md files are read into the prompt. */
  readonly contextFiles: boolean;
  /** Whether a conversation that no longer fits is compacted without being asked to. */
  readonly autoCompact: boolean;
  /** What the command line says in the place of our own system prompt, and behind it. */
  readonly systemPrompt: { readonly replacement: string | undefined; readonly appended: readonly string[] };
  readonly skills: ResourceConfig;
  readonly promptTemplates: ResourceConfig;
  /** Every environment variable that is known to hold a provider key. */
  readonly keyVariables: readonly string[];
  /** Environment variables that children get although they hold a key. */
  readonly envPass: readonly string[];
  /** The MCP servers that config files name; the first counts most. */
  readonly mcp: readonly McpSource[];
}

/** Where skills or prompt templates come from. */
export interface ResourceConfig {
  /** Files and folders that the command line names, absolute. */
  readonly paths: readonly string[];
  /** Whether those in the usual folders count too. */
  readonly discover: boolean;
}

/** What the configuration needs to know of a provider from the catalog. */
export interface KnownProvider {
  readonly name: string;
  readonly baseUrl: string;
  readonly keyEnv: string;
  readonly api: string;
  readonly defaultModel: string;
  readonly models: readonly (Pick<Model, "id"> & Partial<Model>)[];
}

const defaults = {
  maxTokens: 8192,
  maxTurns: 100,
  maxToolOutput: 100_000,
  maxRetries: 3,
  firstByteSeconds: 600,
  idleSeconds: 300,
} as const;

/** `$PI_TS_HOME`, or `.pi-ts` in the home directory. */
export function homeFolder(env: Environment): string {
  return env.PI_TS_HOME || join(homeDirectory(), ".pi-ts");
}

/** A checked config file and where it was. */
export interface LoadedFile {
  readonly path: string;
  readonly content: ConfigFile;
  /** As it was written, to tell where in it something stands. */
  readonly text?: string;
}

/** Reads config.toml, if there is one; the code that checks it is loaded only then. Throws `AppError` naming file, line or key. */
export async function loadConfigFile(home: string): Promise<LoadedFile> {
  const path = join(home, "config.toml");
  if (!isThere(path)) return { path, content: {} };
  const { parseConfigFile, readConfigFile } = await import("./file.ts");
  const text = readConfigFile(path);
  return { path, content: parseConfigFile(text, path), text };
}

/** Throws for a file that may be there, in a folder that may not be looked into: a run without its settings would be another one. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return false;
    throw new AppError("config", `Cannot read ${path}: ${(error as Error).message}`, {
      hint: "Correct the owner and mode of its folder, or name another folder in $PI_TS_HOME.",
      cause: error,
    });
  }
}

/** Merges the layers; of `files` the first counts most. Throws `AppError` (`usage`, `config`) for a value that cannot be used; a missing key is no error here. */
export function resolveConfig(
  flags: Flags,
  env: Environment,
  files: readonly LoadedFile[],
  catalog: readonly KnownProvider[],
  defaultProvider: string,
): Config {
  const file = mergeFiles(files);
  const chosen = chooseModel(flags, env, file, catalog, defaultProvider);
  const known = catalog.find(({ name }) => name === chosen.provider);
  const table = file.providers?.[chosen.provider];
  const keyEnv = table?.api_key_env ?? known?.keyEnv;
  const [baseUrl, urlSource] = [
    [flags.baseUrl, "--base-url"] as const,
    [env.PI_BASE_URL || undefined, "$PI_BASE_URL"] as const,
    [table?.base_url, `base_url under [providers.${chosen.provider}] in config.toml`] as const,
  ].find(([url]) => url !== undefined) ?? [known?.baseUrl, ""];
  if (baseUrl === undefined) throw noBaseUrl(chosen.provider);
  const provider: ProviderConfig = {
    name: chosen.provider,
    api: table?.api ?? known?.api ?? "openai-completions",
    baseUrl: checkUrl(baseUrl, urlSource),
    keyEnv,
    apiKey: flags.apiKey ?? (keyEnv === undefined ? undefined : env[keyEnv] || undefined),
    firstByteMs: timeout(env, "PI_FIRST_BYTE_TIMEOUT", table?.first_byte_timeout, defaults.firstByteSeconds),
    idleMs: timeout(env, "PI_IDLE_TIMEOUT", table?.idle_timeout, defaults.idleSeconds),
    quirks: table ?? {},
    ...resolveNetwork(table ?? {}, chosen.provider, env),
  };
  const model = describeModel(chosen.model, provider, known, table?.models, (flags.thinking ?? "off") !== "off");
  const maxTokens =
    count("--max-tokens", flags.maxTokens) ??
    count("PI_MAX_TOKENS", env.PI_MAX_TOKENS) ??
    file.max_tokens ??
    Math.min(defaults.maxTokens, model.maxTokens);
  return Object.freeze({
    home: homeFolder(env),
    provider,
    model,
    isPriceKnown: hasPrice(chosen.model, known, table?.models),
    maxTokens,
    maxTurns: count("--max-turns", flags.maxTurns) ?? file.max_turns ?? defaults.maxTurns,
    maxToolCalls: count("--max-tool-calls", flags.maxToolCalls) ?? file.max_tool_calls,
    timeoutMs:
      duration("--timeout", flags.timeout, "usage") ?? duration("timeout in config.toml", file.timeout, "config"),
    maxCost: dollars("--max-cost", flags.maxCost) ?? file.max_cost,
    maxToolOutput: count("--max-tool-output", flags.maxToolOutput) ?? file.max_tool_output ?? defaults.maxToolOutput,
    temperature: file.temperature,
    thinkingLevel: thinkingLevel(flags.thinking) ?? file.thinking,
    maxRetries: count("--max-retries", flags.maxRetries, 0) ?? file.max_retries ?? defaults.maxRetries,
    permissions: resolvePermissions(flags, files),
    quiet: flags.quiet ?? file.quiet ?? false,
    markdown: flags.markdown ?? file.markdown ?? true,
    contextFiles: flags.contextFiles ?? file.context_files ?? true,
    autoCompact: flags.autoCompact ?? file.auto_compact ?? true,
    systemPrompt: { replacement: flags.systemPrompt, appended: flags.appendSystemPrompt ?? [] },
    skills: { paths: flags.skills ?? [], discover: !flags.noSkills },
    promptTemplates: { paths: flags.promptTemplates ?? [], discover: !flags.noPromptTemplates },
    keyVariables: keyVariables(files, catalog),
    envPass: file.env_pass ?? [],
    mcp: mcpSources(files, homeFolder(env)),
  });
}

/** The key, or `AppError` `missing_key` naming the variable to set. */
export function requireKey(provider: ProviderConfig): string {
  const key = provider.apiKey?.trim();
  if (key !== undefined) {
    if (key !== "" && isVisibleAscii(key)) return key;
    throw new AppError("config", `The API key for provider ${provider.name} has characters that no key has`, {
      hint: `Check ${provider.keyEnv === undefined ? "--api-key" : `$${provider.keyEnv} or --api-key`}. A key is one line without blanks or quotes.`,
    });
  }
  if (provider.keyEnv === undefined) return "";
  throw new AppError("missing_key", `No API key for provider ${provider.name}: set $${provider.keyEnv}`, {
    hint: `export ${provider.keyEnv}=… or pass --api-key. --provider chooses another provider; \`pi-ts demo\` needs no key.`,
  });
}

function isVisibleAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x21 || code > 0x7e) return false;
  }
  return true;
}

/** Throws `AppError` `usage` where a limit on the cost is set, and what the model costs is not known. */
export function requirePrice({ maxCost, isPriceKnown, model }: Config): void {
  if (maxCost === undefined || isPriceKnown) return;
  const name = `${model.provider}/${model.id}`;
  throw new AppError("usage", `The cost limit cannot be kept: what ${name} costs is not known`, {
    hint: `Give the model a cost under [[providers.${model.provider}.models]] in config.toml (0 where it is free), or leave the limit out.`,
  });
}

/** The layers that provider and model come from. Throws as `resolveConfig` does. */
export function explainChoice(
  flags: Flags,
  env: Environment,
  files: readonly LoadedFile[],
  catalog: readonly KnownProvider[],
  defaultProvider: string,
): { readonly provider: ChoiceLayer | "model"; readonly model: ChoiceLayer } {
  return chooseModel(flags, env, mergeFiles(files), catalog, defaultProvider).from;
}

/** One file's keys over the other's, providers by their own keys. Paths become absolute, each from its file's folder. */
function mergeFiles(files: readonly LoadedFile[]): ConfigFile {
  const providers: NonNullable<ConfigFile["providers"]> = {};
  for (const { path, content } of files.toReversed()) {
    for (const [name, table] of Object.entries(content.providers ?? {})) {
      providers[name] = { ...providers[name], ...absolutePaths(table, dirname(path)) };
    }
  }
  return { ...Object.assign({}, ...files.map(({ content }) => content).toReversed()), providers };
}

type FileModels = NonNullable<NonNullable<ConfigFile["providers"]>[string]["models"]>;

/** What is known of the model: its table in config.toml over the catalog; an unknown one gets modest assumptions and no price. */
function describeModel(
  id: string,
  provider: ProviderConfig,
  known: KnownProvider | undefined,
  tables: FileModels | undefined,
  /** A level was asked for: a model that nothing is known of is taken at the user's word that it thinks. */
  thinks: boolean,
): Model {
  const fromCatalog = known?.models.find((model) => model.id === id);
  const fromFile = tables?.find((model) => typeof model !== "string" && model.id === id);
  const table = typeof fromFile === "object" ? fromFile : undefined;
  const cost = table?.cost;
  return {
    id,
    name: id,
    api: provider.api,
    provider: provider.name,
    baseUrl: provider.baseUrl,
    reasoning: table?.reasoning ?? fromCatalog?.reasoning ?? thinks,
    ...(fromCatalog?.thinkingLevels ? { thinkingLevels: fromCatalog.thinkingLevels } : {}),
    ...(fromCatalog?.adaptiveThinking ? { adaptiveThinking: true } : {}),
    input: table?.input ?? fromCatalog?.input ?? ["text"],
    cost: cost
      ? { input: cost.input, output: cost.output, cacheRead: cost.cache_read ?? 0, cacheWrite: cost.cache_write ?? 0 }
      : (fromCatalog?.cost ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }),
    contextWindow: table?.context_window ?? fromCatalog?.contextWindow ?? 128_000,
    maxTokens: table?.max_tokens ?? fromCatalog?.maxTokens ?? 16_384,
  };
}

function hasPrice(id: string, known: KnownProvider | undefined, tables: FileModels | undefined): boolean {
  const isPriced = (model: string | { id: string; cost?: unknown }) =>
    typeof model !== "string" && model.id === id && model.cost !== undefined;
  return Boolean(known?.models.some(isPriced) || tables?.some(isPriced));
}

/** Every variable that these files or the catalog know to hold a key. */
export function keyVariables(
  files: readonly LoadedFile[],
  catalog: readonly Pick<KnownProvider, "keyEnv">[],
): string[] {
  const configured = files.flatMap(({ content }) => [
    ...Object.values(content.providers ?? {}).flatMap((table) => [
      ...(table.api_key_env === undefined ? [] : [table.api_key_env]),
      ...headerKeyVariables(table),
    ]),
    ...Object.values(content.mcp ?? {}).flatMap(({ bearer_token_env: variable }) => variable ?? []),
  ]);
  return [...new Set([...catalog.map(({ keyEnv }) => keyEnv), ...configured])];
}

function noBaseUrl(provider: string): AppError {
  return new AppError("config", `Provider ${provider} has no base_url`, {
    hint: `Set base_url under [providers.${provider}] in config.toml, or pass --base-url.`,
  });
}
