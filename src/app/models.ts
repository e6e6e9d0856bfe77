// The models there are: from the catalog and config.toml, or as a provider itself lists them.
import { homeFolder, loadConfigFile, requireKey } from "../config/config.ts";
import type { ConfigFile } from "../config/file.ts";
import type { Model } from "../protocol/model.ts";
import { catalog } from "../providers/catalog.ts";
import { listModels } from "../providers/list-models.ts";
import { loadTls } from "../providers/tls.ts";
import type { Environment } from "../util/environment.ts";
import { loadConfig } from "./load-config.ts";

/** A model and what is known of it. */
export type ModelRow = Pick<Model, "id"> & Partial<Model>;

export interface ProviderModels {
  readonly name: string;
  readonly defaultModel: string | undefined;
  readonly models: readonly ModelRow[];
}

/** Every provider with its models, or just the one named. Throws `AppError` `usage` for an unknown name. */
export async function listProviders(only: string | undefined, env: Environment): Promise<ProviderModels[]> {
  const { content: file } = await loadConfigFile(homeFolder(env));
  // Any model will do: this only checks the name.
  if (only !== undefined) await loadConfig({ provider: only, model: "any", baseUrl: "http://localhost" }, env);
  const configured = Object.entries(file.providers ?? {}).map(([name, table]) => fromTable(name, table));
  const known = catalog.filter(
    ({ name }) => !configured.some((table) => table.name === name && table.models.length > 0),
  );
  return [...known, ...configured.filter(({ models }) => models.length > 0)].filter(
    ({ name }) => only === undefined || name === only,
  );
}

/** What the provider (or the default one) answers when asked for its models; needs its key and the network. */
export async function listLiveModels(name: string | undefined, env: Environment): Promise<ProviderModels> {
  const { provider } = await loadConfig({ provider: name }, env);
  const { api, headers } = provider;
  const tls = loadTls(provider.tls, provider.name, env);
  const ids = await listModels(provider.baseUrl, requireKey(provider), { api, headers, env, tls });
  return { name: provider.name, defaultModel: undefined, models: ids.map((id) => ({ id })) };
}

type ProviderTable = NonNullable<ConfigFile["providers"]>[string];

function fromTable(name: string, table: ProviderTable): ProviderModels {
  const models = (table.models ?? []).map((entry): ModelRow => {
    if (typeof entry === "string") return { id: entry };
    const row: ModelRow = { id: entry.id };
    if (entry.context_window) row.contextWindow = entry.context_window;
    if (entry.max_tokens) row.maxTokens = entry.max_tokens;
    if (entry.cost) row.cost = { input: entry.cost.input, output: entry.cost.output, cacheRead: 0, cacheWrite: 0 };
    return row;
  });
  return { name, defaultModel: models[0]?.id, models };
}
