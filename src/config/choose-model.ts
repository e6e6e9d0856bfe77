// Which provider and which model a run asks, of what the layers of the configuration name.
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import type { Flags, KnownProvider } from "./config.ts";
import type { ConfigFile } from "./file.ts";

/** Which layer says what the provider is, and the model. */
export type ChoiceLayer = "flag" | "environment" | "file" | "default";

interface Choice {
  readonly provider: string;
  readonly model: string;
  /** A provider may come from the model, which only it serves. */
  readonly from: { readonly provider: ChoiceLayer | "model"; readonly model: ChoiceLayer };
}

const choiceLayers = ["flag", "environment", "file"] as const;

/**
 * Provider and model, each from the highest layer that names it. `provider/model` names both where its first part is a provider.
 * A model from a lower layer than the provider is left aside when the catalog knows it for other providers only.
 */
export function chooseModel(
  flags: Flags,
  env: Environment,
  file: ConfigFile,
  catalog: readonly KnownProvider[],
  defaultProvider: string,
): Choice {
  const names = new Set([...catalog.map(({ name }) => name), ...Object.keys(file.providers ?? {})]);
  const servers = (id: string) => catalog.filter(({ models }) => models.some((model) => model.id === id));
  const layers = [
    { provider: flags.provider, model: flags.model, source: "on the command line" },
    { provider: env.PI_PROVIDER || undefined, model: env.PI_MODEL || undefined, source: "in the environment" },
    { provider: file.provider, model: file.model, source: "in config.toml" },
  ].map((layer) => splitModel(layer, names));
  const providerLayer = layers.findIndex((layer) => layer.provider !== undefined);
  const modelLayer = layers.findIndex((layer) => layer.model !== undefined);
  const named = layers[providerLayer]?.provider;
  const model = layers[modelLayer]?.model;
  if (named !== undefined && !names.has(named)) throw unknownProvider(named, names, layers[providerLayer]?.source);
  if (model === "") throw new AppError("usage", `The model named ${layers[modelLayer]?.source} is empty`);
  const from = {
    provider: choiceLayers[providerLayer] ?? "default",
    model: choiceLayers[modelLayer] ?? "default",
  } as const;
  if (named === undefined && model !== undefined) {
    const [server, ...others] = servers(model);
    if (server && others.length === 0) return { provider: server.name, model, from: { ...from, provider: "model" } };
  }
  const provider = named ?? defaultProvider;
  const foreign =
    model !== undefined &&
    providerLayer !== -1 &&
    providerLayer < modelLayer &&
    servers(model).length > 0 &&
    !servers(model).some(({ name }) => name === provider);
  if (model !== undefined && !foreign) return { provider, model, from };
  const fallback = catalog.find(({ name }) => name === provider)?.defaultModel ?? firstModel(file, provider);
  if (fallback === undefined) {
    throw new AppError("usage", `Provider ${provider} has no default model`, { hint: "Name one with --model." });
  }
  return { provider, model: fallback, from: { ...from, model: "default" } };
}

interface Layer {
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** Where it was said, in words. */
  readonly source: string;
}

function splitModel(layer: Layer, names: ReadonlySet<string>): Layer {
  const slash = layer.model?.indexOf("/") ?? -1;
  const prefix = layer.model?.slice(0, slash);
  if (layer.model === undefined || slash < 1 || prefix === undefined || !names.has(prefix)) return layer;
  if (layer.provider !== undefined && layer.provider !== prefix) return layer;
  return { ...layer, provider: prefix, model: layer.model.slice(slash + 1) };
}

function firstModel(file: ConfigFile, provider: string): string | undefined {
  const first = file.providers?.[provider]?.models?.[0];
  return typeof first === "string" ? first : first?.id;
}

function unknownProvider(name: string, names: ReadonlySet<string>, source = ""): AppError {
  return new AppError("usage", `Unknown provider '${name}' ${source}`.trimEnd(), {
    hint: `Known: ${[...names].join(", ")}. A further one is a [providers.${name}] table in config.toml.`,
  });
}
