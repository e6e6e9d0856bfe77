// What a client may say in the place of a model's exact id: a part of it, a pattern, and behind a colon how much it should think.
import { type Flags, homeFolder, type LoadedFile, loadConfigFile } from "../config/config.ts";
import type { ThinkingLevel } from "../protocol/message.ts";
import { thinkingLevels } from "../protocol/thinking-level.ts";
import { catalog } from "../providers/catalog.ts";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import { isExactly } from "./model-choice.ts";

/** A model that a pattern stands for, and the thinking level that it asks for. */
export interface ScopedModel {
  readonly provider: string;
  readonly id: string;
  readonly thinkingLevel?: ThinkingLevel | undefined;
}

export interface ModelFlags {
  readonly flags: Flags;
  /** The models that `--models` names, in its order; undefined without it. */
  readonly scope: readonly ScopedModel[] | undefined;
}

export interface KnownModels {
  /** By provider, each one's default model first. */
  readonly models: readonly ScopedModel[];
  /** Those with a key, or that need none. */
  isReachable(provider: string): boolean;
}

/**
 * The flags with the exact model in the place of a pattern. A text that no known model fits stays as it is: the provider may know it.
 * Throws `AppError` `usage` where models of several providers fit, or none fits `--models`.
 */
export async function resolveModelFlags(
  flags: Flags,
  patterns: string | undefined,
  env: Environment,
  project: LoadedFile | undefined,
): Promise<ModelFlags> {
  const known = await knownModels(flags, env, project);
  const scope = patterns === undefined ? undefined : findScope(patterns, known);
  const named = flags.model === undefined ? scope?.[0] : findModel(flags.model, flags.provider, known);
  if (!named) return { flags, scope };
  const { provider, id, thinkingLevel } = named;
  const model = { provider: provider || flags.provider, model: provider === "" ? id : `${provider}/${id}` };
  return { flags: { ...flags, ...model, thinking: flags.thinking ?? thinkingLevel }, scope };
}

/** The model that a text means; undefined for the text itself, and `provider` is "" where only its level was understood. */
export function findModel(
  text: string,
  provider: string | undefined,
  { models, isReachable }: KnownModels,
): ScopedModel | undefined {
  const offered = provider === undefined ? models : models.filter((model) => model.provider === provider);
  if (offered.some((model) => isExactly(model, text))) return undefined;
  const { name, thinkingLevel } = splitLevel(text);
  if (thinkingLevel !== undefined && offered.some((model) => isExactly(model, name))) {
    return { provider: "", id: name, thinkingLevel };
  }
  const fitting = offered.filter((model) => fits(model, name));
  const byProvider = Map.groupBy(fitting, (model) => model.provider);
  const reachable = [...byProvider].filter(([name]) => isReachable(name));
  const [best, ...others] = reachable.length > 0 ? reachable : [...byProvider];
  if (!best) return thinkingLevel === undefined ? undefined : { provider: "", id: name, thinkingLevel };
  if (others.length > 0) {
    const examples = [best, ...others].map(([, [model]]) => `${model?.provider}/${model?.id}`).join(", ");
    throw new AppError("usage", `--model ${text} fits models of several providers: ${examples}`, {
      hint: "Name the whole of one, or add --provider.",
    });
  }
  return { ...(best[1][0] as ScopedModel), thinkingLevel };
}

/** The models that patterns with commas between them stand for: all that fit one with `*` or `?`, else the best of each provider. */
export function findScope(patterns: string, { models }: KnownModels): ScopedModel[] {
  const scope: ScopedModel[] = [];
  for (const pattern of patterns.split(",").map((part) => part.trim())) {
    if (pattern === "") continue;
    const isWhole = models.some((model) => isExactly(model, pattern));
    const { name, thinkingLevel } = isWhole ? { name: pattern, thinkingLevel: undefined } : splitLevel(pattern);
    const exact = models.filter((model) => isExactly(model, name));
    const fitting = exact.length > 0 ? exact : models.filter((model) => fits(model, name));
    if (fitting.length === 0) {
      throw new AppError("usage", `--models: no known model fits '${pattern}'`, { hint: "`pi-ts models` shows them." });
    }
    const seen = new Set<string>();
    for (const model of fitting) {
      const isFurther = !/[*?]/.test(name) && seen.has(model.provider);
      seen.add(model.provider);
      if (isFurther || scope.some((other) => other.provider === model.provider && other.id === model.id)) continue;
      scope.push({ ...model, thinkingLevel });
    }
  }
  if (scope.length === 0) throw new AppError("usage", "--models names no model");
  return scope;
}

/** Whether the id contains the text, or is like it where it has `*` or `?`; the provider may stand before it, and capitals do not count. */
function fits({ provider, id }: ScopedModel, text: string): boolean {
  const wanted = text.toLowerCase();
  const name = id.toLowerCase();
  const prefix = `${provider.toLowerCase()}/`;
  const parts = wanted.startsWith(prefix) ? [wanted, wanted.slice(prefix.length)] : [wanted];
  return parts.some((part) => {
    if (part === "") return false;
    if (!/[*?]/.test(part)) return name.includes(part);
    const source = part
      .replace(/[\\^$.|+()[\]{}]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".");
    const pattern = new RegExp(`^${source}$`);
    return pattern.test(name) || pattern.test(`${prefix}${name}`);
  });
}

function splitLevel(text: string): { name: string; thinkingLevel: ThinkingLevel | undefined } {
  const colon = text.lastIndexOf(":");
  const thinkingLevel = thinkingLevels.find((level) => level === text.slice(colon + 1));
  return colon < 1 || thinkingLevel === undefined
    ? { name: text, thinkingLevel: undefined }
    : { name: text.slice(0, colon), thinkingLevel };
}

async function knownModels(flags: Flags, env: Environment, project: LoadedFile | undefined): Promise<KnownModels> {
  const own = await loadConfigFile(homeFolder(env));
  const tables = (project ? [project, own] : [own]).map(({ content }) => content.providers ?? {});
  const models: ScopedModel[] = [];
  const add = (provider: string, id: string) => {
    if (!models.some((model) => model.provider === provider && model.id === id)) models.push({ provider, id });
  };
  for (const table of tables) {
    for (const [provider, { models = [] }] of Object.entries(table)) {
      for (const model of models) add(provider, typeof model === "string" ? model : model.id);
    }
  }
  for (const { name, defaultModel, models } of catalog) {
    add(name, defaultModel);
    for (const { id } of models) add(name, id);
  }
  return {
    models,
    isReachable(provider) {
      if (flags.apiKey !== undefined) return true;
      const keyEnv =
        tables.find((table) => table[provider]?.api_key_env !== undefined)?.[provider]?.api_key_env ??
        catalog.find(({ name }) => name === provider)?.keyEnv;
      return keyEnv === undefined || Boolean(env[keyEnv]);
    },
  };
}
