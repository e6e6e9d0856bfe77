// Where each value in force comes from: a flag, the environment, a config file, or nobody, so that the default counts. For those who explain
// a configuration; a run needs none of it.
import type { Environment } from "../util/environment.ts";
import type { ChoiceLayer } from "./choose-model.ts";
import { type Config, explainChoice, type Flags, type KnownProvider, type LoadedFile } from "./config.ts";
import { lineOfKey } from "./locate.ts";
import {
  flagName,
  type KeyReference,
  type ProviderTable,
  permissionsReference,
  providerReference,
  type TopLevelKey,
  topLevelReference,
} from "./reference.ts";

export type Origin =
  | { readonly from: "flag"; readonly flag: string }
  | { readonly from: "environment"; readonly variable: string }
  | { readonly from: "file"; readonly path: string; readonly line: number | undefined }
  /** The provider, by the model that only it serves. */
  | { readonly from: "model" }
  | { readonly from: "default" };

/** A value in force. Of headers only the names are told. */
export interface Setting {
  /** As in config.toml: `max_turns`, `providers.kimi.base_url`. */
  readonly key: string;
  /** Undefined where it is left to the model or the provider. */
  readonly value: string | number | boolean | readonly string[] | undefined;
  readonly origin: Origin;
}

/** What `resolveConfig` was given, and what it made of it. */
export interface Resolved {
  readonly flags: Flags;
  readonly env: Environment;
  /** The first counts most. */
  readonly files: readonly LoadedFile[];
  readonly catalog: readonly KnownProvider[];
  readonly defaultProvider: string;
  readonly config: Config;
}

const topLevelValues: Readonly<Record<TopLevelKey, (config: Config) => Setting["value"]>> = {
  provider: ({ provider }) => provider.name,
  model: ({ model }) => model.id,
  max_tokens: ({ maxTokens }) => maxTokens,
  max_turns: ({ maxTurns }) => maxTurns,
  max_tool_calls: ({ maxToolCalls }) => maxToolCalls,
  timeout: ({ timeoutMs }) => (timeoutMs === undefined ? undefined : timeoutMs / 1000),
  max_cost: ({ maxCost }) => maxCost,
  max_tool_output: ({ maxToolOutput }) => maxToolOutput,
  temperature: ({ temperature }) => temperature,
  thinking: ({ thinkingLevel }) => thinkingLevel,
  max_retries: ({ maxRetries }) => maxRetries,
  quiet: ({ quiet }) => quiet,
  markdown: ({ markdown }) => markdown,
  context_files: ({ contextFiles }) => contextFiles,
  auto_compact: ({ autoCompact }) => autoCompact,
  env_pass: ({ envPass }) => envPass,
  sandbox: ({ permissions }) => permissions.sandbox,
  sandbox_net: ({ permissions }) => permissions.sandboxNet,
};

/** Every key of the top level, rules where there are any, and of the chosen provider's table what is set or always has a value. */
export function settingsOf(resolved: Resolved): Setting[] {
  const { flags, env, files, catalog, defaultProvider, config } = resolved;
  const choice = explainChoice(flags, env, files, catalog, defaultProvider);
  const topLevel = entriesOf(topLevelReference).map(([key, reference]): Setting => {
    const value = topLevelValues[key](config);
    const origin =
      key === "provider" || key === "model"
        ? originOfChoice(choice[key], key, resolved)
        : originOf([key], reference, resolved);
    return { key, value, origin };
  });
  return [...topLevel, ...ruleSettings(resolved), ...providerSettings(resolved)];
}

/** One for each layer that has rules, since those of all layers count together. */
function ruleSettings({ flags, files }: Resolved): Setting[] {
  return entriesOf(permissionsReference).flatMap(([kind, reference]) => {
    const key = `permissions.${kind}`;
    const given = flags[kind] ?? [];
    const fromFlags: Setting[] =
      given.length > 0 ? [{ key, value: given, origin: { from: "flag", flag: flagName(reference) ?? "" } }] : [];
    const fromFiles = files.flatMap((file): Setting[] => {
      const origin = fileOrigin(["permissions", kind], [file]);
      return origin ? [{ key, value: file.content.permissions?.[kind], origin }] : [];
    });
    return [...fromFlags, ...fromFiles];
  });
}

function providerSettings(resolved: Resolved): Setting[] {
  const { provider } = resolved.config;
  const always: Partial<Record<keyof ProviderTable, Setting["value"]>> = {
    base_url: provider.baseUrl,
    api: provider.api,
    api_key_env: provider.keyEnv,
    first_byte_timeout: provider.firstByteMs / 1000,
    idle_timeout: provider.idleMs / 1000,
  };
  return entriesOf(providerReference).flatMap(([key, reference]) => {
    const path = ["providers", provider.name, key];
    const origin = originOf(path, reference, resolved);
    const value = key in always ? always[key] : shown(key, resolved);
    return key in always || origin.from !== "default" ? [{ key: path.join("."), value, origin }] : [];
  });
}

function shown(key: keyof ProviderTable, { files, config }: Resolved): Setting["value"] {
  const tables = files.map(({ content }) => content.providers?.[config.provider.name]);
  const value = tables.find((table) => table?.[key] !== undefined)?.[key];
  if (key === "headers") return Object.keys(config.provider.headers);
  if (key === "ca") return config.provider.tls.ca;
  if (key === "client_cert") return config.provider.tls.clientCert;
  if (key === "client_key") return config.provider.tls.clientKey;
  if (Array.isArray(value)) return value.map((model) => (typeof model === "string" ? model : model.id));
  return typeof value === "object" ? undefined : value;
}

function originOf(path: readonly string[], reference: KeyReference, { flags, env, files }: Resolved): Origin {
  return (
    flagOrigin(reference, flags) ?? variableOrigin(reference, env) ?? fileOrigin(path, files) ?? { from: "default" }
  );
}

/** `provider/model` in the place of a model names the provider too. */
function originOfChoice(layer: ChoiceLayer | "model", key: "provider" | "model", resolved: Resolved): Origin {
  const { flags, env, files } = resolved;
  const [own, model] = [topLevelReference[key], topLevelReference.model];
  switch (layer) {
    case "flag":
      return flagOrigin(own, flags) ?? flagOrigin(model, flags) ?? { from: "model" };
    case "environment":
      return variableOrigin(own, env) ?? variableOrigin(model, env) ?? { from: "model" };
    case "file":
      return fileOrigin([key], files) ?? fileOrigin(["model"], files) ?? { from: "model" };
    default:
      return { from: layer };
  }
}

function flagOrigin(reference: KeyReference, flags: Flags): Origin | undefined {
  const value = reference.flag && flags[reference.flag];
  if (value === undefined || value === "") return undefined;
  const name = flagName(reference) ?? "";
  return { from: "flag", flag: value === true ? name.replace(/^--no-/, "--") : name };
}

function variableOrigin({ variable }: KeyReference, env: Environment): Origin | undefined {
  return variable !== undefined && env[variable] ? { from: "environment", variable } : undefined;
}

/** The first file that sets the key, which is the one that counts. */
function fileOrigin(path: readonly string[], files: readonly LoadedFile[]): Origin | undefined {
  const file = files.find(({ content }) => {
    const value = path.reduce<unknown>((table, key) => (table as Record<string, unknown> | undefined)?.[key], content);
    return value !== undefined;
  });
  if (!file) return undefined;
  return { from: "file", path: file.path, line: file.text === undefined ? undefined : lineOfKey(file.text, path) };
}

function entriesOf<Key extends string>(table: Readonly<Record<Key, KeyReference>>): [Key, KeyReference][] {
  return Object.entries(table) as [Key, KeyReference][];
}
