// The models a running app can change to: those of every provider that can be reached with what is configured.
import {
  type Config,
  type Flags,
  homeFolder,
  type LoadedFile,
  loadConfigFile,
  requireKey,
  requirePrice,
  resolveConfig,
} from "../config/config.ts";
import type { ThinkingLevel } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import { catalog, defaultProvider } from "../providers/catalog.ts";
import type { Provider } from "../providers/provider.ts";
import { nearestLevel } from "../providers/thinking-level.ts";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import { createProvider } from "./create-provider.ts";
import type { ScopedModel } from "./model-patterns.ts";

export interface LoadedModel {
  readonly config: Config;
  readonly provider: Provider;
}

export interface NextModel extends ScopedModel {
  /** It is one of those that were named to change between. */
  readonly isScoped: boolean;
}

export interface ModelChoice {
  /** Every model whose provider has a key or needs none, the current one among them, by provider. */
  list(current: Model): Promise<Model[]>;
  /** The one after the current one, of those that were named to change between or else of all; undefined when there is no other. */
  next(current: Model): Promise<NextModel | undefined>;
  /** Throws `AppError`: `usage` for a model that is not known, `missing_key`. */
  load(provider: string, modelId: string, current: Model): Promise<LoadedModel>;
  /** A model by `provider/model`, whether its provider lists it or not. Throws `AppError`: `usage`, `missing_key`. */
  loadNamed(name: string): Promise<LoadedModel>;
}

export interface ModelChoiceOptions {
  /** Those of the start; what they say of an address or a key holds for the provider they were given for. */
  readonly flags: Flags;
  /** The models to change between. */
  readonly scope: readonly ScopedModel[] | undefined;
  readonly env: Environment;
  readonly cwd: string;
  readonly project: LoadedFile | undefined;
  readonly startedWith: Config;
  readonly record?: string | undefined;
  readonly replay?: string | undefined;
}

export function createModelChoice(options: ModelChoiceOptions): ModelChoice {
  const { env, project, startedWith, cwd, record, replay } = options;

  async function createResolver() {
    const own = await loadConfigFile(homeFolder(env));
    const files = project ? [project, own] : [own];
    const tables = files.map(({ content }) => content.providers ?? {});
    const resolve = (provider: string, model: string): Config => {
      const isFirst = provider === startedWith.provider.name;
      const { baseUrl, apiKey, thinking: asked, ...flags } = options.flags;
      // What `--models` says of one model's thinking is no word about another's.
      const thinking = options.scope ? undefined : asked;
      const { PI_BASE_URL, ...elsewhere } = env;
      return resolveConfig(
        { ...flags, thinking, provider, model: `${provider}/${model}`, ...(isFirst ? { baseUrl, apiKey } : {}) },
        isFirst ? env : elsewhere,
        files,
        catalog,
        defaultProvider,
      );
    };
    const ids = new Map<string, Set<string>>();
    const add = (provider: string, id: string) => {
      const known = ids.get(provider) ?? new Set();
      ids.set(provider, known.add(id));
    };
    for (const table of tables) {
      for (const [name, { models = [] }] of Object.entries(table)) {
        for (const model of models) add(name, typeof model === "string" ? model : model.id);
      }
    }
    for (const { name, models } of catalog) for (const { id } of models) add(name, id);
    return { resolve, ids };
  }

  async function list(current: Model): Promise<Model[]> {
    const { resolve, ids } = await createResolver();
    const models = [...ids].flatMap(([provider, known]) => {
      const configs = tryAll([...known].map((id) => () => resolve(provider, id)));
      return configs.flatMap(({ provider, model }) => (hasKey(provider, replay) ? [model] : []));
    });
    return models.some((model) => isSame(model, current)) ? models : [current, ...models];
  }

  async function toLoaded(config: Config): Promise<LoadedModel> {
    if (replay === undefined) requireKey(config.provider);
    requirePrice(config);
    return { config, provider: await createProvider(config.provider, { env, cwd, record, replay }) };
  }

  return {
    list,
    async next(current) {
      const models: readonly ScopedModel[] = options.scope ?? (await list(current));
      const next = models[(models.findIndex((model) => isSame(model, current)) + 1) % models.length];
      if (!next || isSame(next, current)) return undefined;
      const { provider, id } = next;
      // What a model of the list thinks is no wish.
      const thinkingLevel = options.scope && next.thinkingLevel;
      return { provider, id, thinkingLevel, isScoped: options.scope !== undefined };
    },
    async load(provider, modelId, current) {
      const { resolve, ids } = await createResolver();
      const isKnown = ids.get(provider)?.has(modelId) || isSame(current, { provider, id: modelId });
      if (!isKnown) throw new AppError("usage", `Model not found: ${provider}/${modelId}`);
      return toLoaded(resolve(provider, modelId));
    },
    async loadNamed(name) {
      const slash = name.indexOf("/");
      if (slash < 1 || slash === name.length - 1) {
        throw new AppError("usage", `A model is named by its provider and its id, such as openai/gpt-5, not '${name}'`);
      }
      const { resolve } = await createResolver();
      return toLoaded(resolve(name.slice(0, slash), name.slice(slash + 1)));
    },
  };
}

/** The thinking levels a client can choose from for a model. */
export function thinkingLevelsOf({ reasoning, thinkingLevels }: Model): ThinkingLevel[] {
  if (!reasoning) return ["off"];
  return thinkingLevels && thinkingLevels.length > 0
    ? [...thinkingLevels]
    : ["off", "minimal", "low", "medium", "high"];
}

/** The level that requests ask for; `off` also where it is left to the model. */
export function thinkingLevelOf({ model, thinkingLevel }: Pick<Config, "model" | "thinkingLevel">): ThinkingLevel {
  const levels = thinkingLevelsOf(model);
  return !model.reasoning || thinkingLevel === undefined ? "off" : (nearestLevel(thinkingLevel, levels) ?? "off");
}

/** Whether a text is the model's whole name, with its provider or without. */
export function isExactly({ provider, id }: Pick<Model, "provider" | "id">, text: string): boolean {
  return text === id || text === `${provider}/${id}`;
}

export function isSame(one: Pick<Model, "provider" | "id">, other: Pick<Model, "provider" | "id">): boolean {
  return one.provider === other.provider && one.id === other.id;
}

function hasKey({ apiKey, keyEnv }: Config["provider"], replay: string | undefined): boolean {
  return apiKey !== undefined || keyEnv === undefined || replay !== undefined;
}

/** What could be made; a provider whose table is wrong offers nothing. */
function tryAll<Value>(makers: readonly (() => Value)[]): Value[] {
  return makers.flatMap((make) => {
    try {
      return [make()];
    } catch {
      return [];
    }
  });
}
