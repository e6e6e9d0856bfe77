// The catalog: every provider known out of the box and the models it serves. Names and prices rot; this is the one place they stand.
// Prices are US dollars per million tokens, windows and output limits are tokens, as the vendors' public price lists gave them in November 2026.
import type { ThinkingLevel } from "../protocol/message.ts";
import type { Model, ModelCost } from "../protocol/model.ts";
import { lazy } from "../util/lazy.ts";
import type { Quirks } from "./quirks.ts";

/** What the catalog says of a provider. */
export interface CatalogProvider {
  readonly name: string;
  readonly baseUrl: string;
  /** The environment variable that holds its key. */
  readonly keyEnv: string;
  readonly api: string;
  readonly defaultModel: string;
  /** Where it differs from the default on the chat-completions wire. */
  readonly quirks?: Partial<Quirks>;
  readonly models: readonly CatalogModel[];
}

/** What the catalog says of a model; provider and address come with the provider. */
export type CatalogModel = Pick<
  Model,
  "id" | "contextWindow" | "maxTokens" | "reasoning" | "thinkingLevels" | "adaptiveThinking" | "input" | "cost"
>;

type Prices = readonly [input: number, output: number, cacheRead: number, cacheWrite: number];

interface Traits {
  /** Prices of a request whose input is above so many tokens. */
  readonly tier?: readonly [inputTokensAbove: number, prices: Prices];
  readonly reasoning?: false;
  /** The thinking levels it tells apart, with spaces between; left out where it takes a token budget. */
  readonly levels?: string;
  /** It decides itself how long to think, guided by an effort. */
  readonly adaptive?: true;
  readonly input?: Model["input"];
}

function toCost([input, output, cacheRead, cacheWrite]: Prices) {
  return { input, output, cacheRead, cacheWrite };
}

function model(
  id: string,
  contextWindow: number,
  maxTokens: number,
  prices: Prices,
  traits: Traits = {},
): CatalogModel {
  const cost: ModelCost = toCost(prices);
  if (traits.tier) cost.tiers = [{ inputTokensAbove: traits.tier[0], ...toCost(traits.tier[1]) }];
  return {
    id,
    contextWindow,
    maxTokens,
    reasoning: traits.reasoning ?? true,
    ...(traits.levels ? { thinkingLevels: traits.levels.split(" ") as ThinkingLevel[] } : {}),
    ...(traits.adaptive ? { adaptiveThinking: true } : {}),
    input: traits.input ?? ["text", "image"],
    cost,
  };
}

/** Models are made when they are first asked for: most runs need those of one provider. */
function provider({
  models,
  ...rest
}: Omit<CatalogProvider, "models"> & { models(): CatalogModel[] }): CatalogProvider {
  const made = lazy(models);
  return {
    ...rest,
    get models() {
      return made();
    },
  };
}

export const catalog: readonly CatalogProvider[] = [
  provider({
    name: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyEnv: "ANTHROPIC_API_KEY",
    api: "anthropic-messages",
    defaultModel: "claude-opus-5-5",
    models: () => [
      model("claude-fable-5", 1_000_000, 128_000, [10, 50, 1, 12.5], {
        levels: "low medium high xhigh max",
        adaptive: true,
      }),
      model("claude-fable-5-1", 1_000_000, 128_000, [10, 50, 0.25, 12.5], {
        levels: "low medium high xhigh max",
        adaptive: true,
      }),
      model("claude-fable-5-2", 1_000_000, 128_000, [8, 40, 0.2, 10], {
        levels: "low medium high xhigh max",
        adaptive: true,
      }),
      model("claude-haiku-4-5", 200_000, 64_000, [1, 5, 0.1, 1.25]),
      model("claude-haiku-4-5-20251001", 200_000, 64_000, [1, 5, 0.1, 1.25]),
      model("claude-haiku-5-5", 1_000_000, 128_000, [0.1, 0.5, 0.01, 0.125], {
        tier: [100_000, [0.5, 2.5, 0.05, 0.625]],
        levels: "off low medium high xhigh max",
        adaptive: true,
      }),
      model("claude-opus-4-5", 200_000, 64_000, [5, 25, 0.5, 6.25]),
      model("claude-opus-4-5-20251101", 200_000, 64_000, [5, 25, 0.5, 6.25]),
      model("claude-opus-4-6", 1_000_000, 128_000, [5, 25, 0.5, 6.25], {
        levels: "off low medium high max",
        adaptive: true,
      }),
      model("claude-opus-4-7", 1_000_000, 128_000, [5, 25, 0.5, 6.25], {
        levels: "off low medium high xhigh max",
        adaptive: true,
      }),
      model("claude-opus-4-8", 1_000_000, 128_000, [5, 25, 0.5, 6.25], {
        levels: "off low medium high xhigh max",
        adaptive: true,
      }),
      model("claude-opus-5", 1_000_000, 128_000, [5, 25, 0.5, 6.25], {
        levels: "off low medium high xhigh max",
        adaptive: true,
      }),
      model("claude-opus-5-5", 1_000_000, 128_000, [4, 20, 0.2, 5], {
        levels: "low medium high xhigh max",
        adaptive: true,
      }),
      model("claude-sonnet-4-5", 200_000, 64_000, [3, 15, 0.3, 3.75]),
      model("claude-sonnet-4-5-20250929", 200_000, 64_000, [3, 15, 0.3, 3.75]),
      model("claude-sonnet-4-6", 1_000_000, 128_000, [3, 15, 0.3, 3.75], {
        levels: "off low medium high max",
        adaptive: true,
      }),
      model("claude-sonnet-5", 1_000_000, 128_000, [2, 10, 0.2, 2.5], {
        levels: "off low medium high xhigh max",
        adaptive: true,
      }),
      model("claude-sonnet-5-5", 1_000_000, 128_000, [2, 10, 0.1, 2.5], {
        levels: "low medium high xhigh max",
        adaptive: true,
      }),
    ],
  }),
  provider({
    name: "openai",
    baseUrl: "https://api.openai.com/v1",
    keyEnv: "OPENAI_API_KEY",
    api: "openai-completions",
    defaultModel: "gpt-6.2-sol",
    quirks: { maxTokensField: "max_completion_tokens", reasoningReplay: "never" },
    models: () => [
      model("chat-latest", 400_000, 128_000, [5, 30, 0.5, 0]),
      model("gpt-4", 8192, 8192, [30, 60, 0, 0], { reasoning: false, input: ["text"] }),
      model("gpt-4-turbo", 128_000, 4096, [10, 30, 0, 0], { reasoning: false }),
      model("gpt-4.1", 1_047_576, 32_768, [2, 8, 0.5, 0], { reasoning: false }),
      model("gpt-4.1-mini", 1_047_576, 32_768, [0.4, 1.6, 0.1, 0], { reasoning: false }),
      model("gpt-4.1-nano", 1_047_576, 32_768, [0.1, 0.4, 0.025, 0], { reasoning: false }),
      model("gpt-4o", 128_000, 16_384, [2.5, 10, 1.25, 0], { reasoning: false }),
      model("gpt-4o-2024-05-13", 128_000, 4096, [5, 15, 0, 0], { reasoning: false }),
      model("gpt-4o-2024-08-06", 128_000, 16_384, [2.5, 10, 1.25, 0], { reasoning: false }),
      model("gpt-4o-2024-11-20", 128_000, 16_384, [2.5, 10, 1.25, 0], { reasoning: false }),
      model("gpt-4o-mini", 128_000, 16_384, [0.15, 0.6, 0.075, 0], { reasoning: false }),
      model("gpt-5", 400_000, 128_000, [1.25, 10, 0.125, 0], { levels: "minimal low medium high" }),
      model("gpt-5-chat-latest", 128_000, 16_384, [1.25, 10, 0.125, 0], { reasoning: false }),
      model("gpt-5-mini", 400_000, 128_000, [0.25, 2, 0.025, 0], { levels: "minimal low medium high" }),
      model("gpt-5-nano", 400_000, 128_000, [0.05, 0.4, 0.005, 0], { levels: "minimal low medium high" }),
      model("gpt-5-pro", 400_000, 128_000, [15, 120, 0, 0], { levels: "high" }),
      model("gpt-5.1", 400_000, 128_000, [1.25, 10, 0.125, 0], { levels: "off low medium high" }),
      model("gpt-5.2", 400_000, 128_000, [1.75, 14, 0.175, 0], { levels: "off low medium high xhigh" }),
      model("gpt-5.2-pro", 400_000, 128_000, [21, 168, 0, 0], { levels: "medium high xhigh" }),
      model("gpt-5.3-codex", 400_000, 128_000, [1.75, 14, 0.175, 0], { levels: "off low medium high xhigh" }),
      model("gpt-5.3-codex-spark", 128_000, 32_000, [1.75, 14, 0.175, 0], { levels: "low medium high xhigh" }),
      model("gpt-5.4", 272_000, 128_000, [2.5, 15, 0.25, 0], {
        tier: [272_000, [5, 22.5, 0.5, 0]],
        levels: "off low medium high xhigh",
      }),
      model("gpt-5.4-mini", 400_000, 128_000, [0.75, 4.5, 0.075, 0], { levels: "off low medium high xhigh" }),
      model("gpt-5.4-nano", 400_000, 128_000, [0.2, 1.25, 0.02, 0], { levels: "off low medium high xhigh" }),
      model("gpt-5.4-pro", 1_050_000, 128_000, [30, 180, 0, 0], {
        tier: [272_000, [60, 270, 0, 0]],
        levels: "medium high xhigh",
      }),
      model("gpt-5.5", 272_000, 128_000, [5, 30, 0.5, 0], {
        tier: [272_000, [10, 45, 1, 0]],
        levels: "off low medium high xhigh",
      }),
      model("gpt-5.5-pro", 1_050_000, 128_000, [30, 180, 0, 0], {
        tier: [272_000, [60, 270, 0, 0]],
        levels: "medium high xhigh",
      }),
      model("gpt-5.6-cyber", 400_000, 128_000, [12.5, 75, 1.25, 15.625], { levels: "low medium high xhigh max" }),
      model("gpt-5.6-luna", 272_000, 128_000, [0.2, 1.2, 0.02, 0.25], {
        tier: [272_000, [0.4, 1.8, 0.04, 0.5]],
        levels: "off low medium high xhigh max",
      }),
      model("gpt-5.6-sol", 272_000, 128_000, [4, 20, 0.4, 5], {
        tier: [272_000, [8, 30, 0.8, 10]],
        levels: "off low medium high xhigh max",
      }),
      model("gpt-5.6-terra", 272_000, 128_000, [2, 12, 0.2, 2.5], {
        tier: [272_000, [4, 18, 0.4, 5]],
        levels: "off low medium high xhigh max",
      }),
      model("gpt-6-astra", 272_000, 128_000, [10, 50, 1, 12.5], {
        tier: [272_000, [20, 75, 2, 25]],
        levels: "low medium high xhigh max",
      }),
      model("gpt-6-cyber", 1_050_000, 128_000, [20, 100, 2, 25], { levels: "low medium high xhigh max" }),
      model("gpt-6-luna", 272_000, 128_000, [0.1, 0.5, 0.01, 0.125], {
        tier: [272_000, [0.2, 0.75, 0.02, 0.25]],
        levels: "off low medium high xhigh max",
      }),
      model("gpt-6-sol", 272_000, 128_000, [2, 10, 0.2, 2.5], {
        tier: [272_000, [4, 15, 0.4, 5]],
        levels: "off low medium high xhigh max",
      }),
      model("gpt-6.1-sol", 272_000, 128_000, [2, 10, 0.1, 2.5], {
        tier: [272_000, [4, 15, 0.2, 5]],
        levels: "low medium high xhigh max",
      }),
      model("gpt-6.1-terra", 272_000, 128_000, [1, 5, 0.05, 1.25], {
        tier: [272_000, [2, 7.5, 0.1, 2.5]],
        levels: "off low medium high xhigh max",
      }),
      model("gpt-6.2-astra", 272_000, 128_000, [8, 40, 0.4, 10], {
        tier: [272_000, [16, 60, 0.8, 20]],
        levels: "low medium high xhigh max",
      }),
      model("gpt-6.2-sol", 272_000, 128_000, [2, 10, 0.1, 2.5], {
        tier: [272_000, [4, 15, 0.2, 5]],
        levels: "low medium high xhigh max",
      }),
      model("gpt-daybreak-blue-latest", 1_050_000, 128_000, [4, 20, 0.4, 5], {
        tier: [272_000, [8, 30, 0.8, 10]],
        levels: "off low medium high xhigh max",
      }),
      model("gpt-daybreak-red-latest", 400_000, 128_000, [12.5, 75, 1.25, 15.625], {
        levels: "off low medium high xhigh max",
      }),
      model("o1", 200_000, 100_000, [15, 60, 7.5, 0], { levels: "low medium high" }),
      model("o1-pro", 200_000, 100_000, [150, 600, 0, 0], { levels: "low medium high" }),
      model("o3", 200_000, 100_000, [2, 8, 0.5, 0], { levels: "low medium high" }),
      model("o3-mini", 200_000, 100_000, [1.1, 4.4, 0.55, 0], { input: ["text"], levels: "low medium high" }),
      model("o3-pro", 200_000, 100_000, [20, 80, 0, 0], { levels: "low medium high" }),
      model("o4-mini", 200_000, 100_000, [1.1, 4.4, 0.275, 0], { levels: "low medium high" }),
    ],
  }),
  provider({
    name: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    keyEnv: "GEMINI_API_KEY",
    api: "openai-completions",
    defaultModel: "gemini-4-argon",
    quirks: { toolSchema: "gemini", reasoningReplay: "never" },
    models: () => [
      model("deep-research-max-preview-04-2026", 1_048_576, 65_536, [2, 12, 0.2, 0], {
        tier: [200_000, [4, 18, 0.4, 0]],
      }),
      model("deep-research-preview-04-2026", 1_048_576, 65_536, [2, 12, 0.2, 0], { tier: [200_000, [4, 18, 0.4, 0]] }),
      model("gemini-2.5-computer-use-preview-10-2025", 128_000, 64_000, [1.25, 10, 0, 0], {
        levels: "low medium high",
      }),
      model("gemini-2.5-flash", 1_048_576, 65_536, [0.3, 2.5, 0.03, 0], { levels: "off low medium high" }),
      model("gemini-2.5-flash-lite", 1_048_576, 65_536, [0.1, 0.4, 0.01, 0], { levels: "off low medium high" }),
      model("gemini-2.5-pro", 1_048_576, 65_536, [1.25, 10, 0.125, 0], {
        tier: [200_000, [2.5, 15, 0.25, 0]],
        levels: "low medium high",
      }),
      model("gemini-3-flash-preview", 1_048_576, 65_536, [0.5, 3, 0.05, 0], { levels: "minimal low medium high" }),
      model("gemini-3.1-flash-lite", 1_048_576, 65_536, [0.25, 1.5, 0.025, 0], { levels: "minimal low medium high" }),
      model("gemini-3.1-flash-lite-preview", 1_048_576, 65_536, [0.25, 1.5, 0.025, 0], {
        levels: "minimal low medium high",
      }),
      model("gemini-3.1-pro-preview", 1_048_576, 65_536, [2, 12, 0.2, 0], {
        tier: [200_000, [4, 18, 0.4, 0]],
        levels: "low medium high",
      }),
      model("gemini-3.1-pro-preview-customtools", 1_048_576, 65_536, [2, 12, 0.2, 0], {
        tier: [200_000, [4, 18, 0.4, 0]],
        levels: "low medium high",
      }),
      model("gemini-3.5-flash", 1_048_576, 65_536, [1.5, 9, 0.15, 0], { levels: "minimal low medium high" }),
      model("gemini-3.5-flash-lite", 1_048_576, 65_536, [0.3, 2.5, 0.03, 0], { levels: "minimal low medium high" }),
      model("gemini-3.6-flash", 1_048_576, 65_536, [0.75, 3.75, 0.075, 0], { levels: "minimal low medium high" }),
      model("gemini-3.7-flash", 1_048_576, 65_536, [0.75, 3.75, 0.075, 0], { levels: "low medium high" }),
      model("gemini-3.8-flash", 1_048_576, 65_536, [0.75, 3.75, 0.075, 0], { levels: "low medium high" }),
      model("gemini-4-argon", 1_048_576, 32_768, [2, 10, 0.1, 0], { levels: "low medium high" }),
      model("gemini-4-carbon", 1_048_576, 32_768, [2, 10, 0.1, 0], { levels: "low medium high" }),
      model("gemini-4-hydrogen", 1_048_576, 65_536, [1.5, 7.5, 0.075, 0], { levels: "low medium high xhigh" }),
      model("gemini-4-neon", 1_048_576, 65_536, [3, 15, 0.15, 0], { levels: "low medium high xhigh" }),
      model("gemini-flash-latest", 1_048_576, 65_536, [1.5, 9, 0.15, 0], { levels: "minimal low medium high" }),
      model("gemini-flash-lite-latest", 1_048_576, 65_536, [0.25, 1.5, 0.025, 0], {
        levels: "minimal low medium high",
      }),
      model("gemini-pro-latest", 1_048_576, 65_536, [2, 12, 0.2, 0], {
        tier: [200_000, [4, 18, 0.4, 0]],
        levels: "low medium high",
      }),
      model("gemini-robotics-er-2-preview", 131_072, 65_536, [1, 5, 0.1, 0], { levels: "minimal low medium high" }),
      model("gemma-4-26b-a4b-it", 262_144, 32_768, [0, 0, 0, 0], { levels: "minimal high" }),
      model("gemma-4-31b-it", 262_144, 32_768, [0, 0, 0, 0], { levels: "minimal high" }),
    ],
  }),
  provider({
    name: "deepseek",
    baseUrl: "https://api.deepseek.com/v1",
    keyEnv: "DEEPSEEK_API_KEY",
    api: "openai-completions",
    defaultModel: "deepseek-v4-pro",
    quirks: { reasoningReplay: "required", thinking: "thinking_type" },
    models: () => [
      model("deepseek-flash", 1_000_000, 384_000, [0.3, 1.2, 0.006, 0], { levels: "off low high max" }),
      model("deepseek-v4-pro", 1_000_000, 384_000, [1.32, 3.96, 0.044, 0], { input: ["text"], levels: "off high max" }),
    ],
  }),
  provider({
    name: "kimi",
    baseUrl: "https://api.moonshot.ai/v1",
    keyEnv: "MOONSHOT_API_KEY",
    api: "openai-completions",
    defaultModel: "kimi-k2.7-code",
    quirks: { reasoningReplay: "required", thinking: "thinking_type" },
    models: () => [
      model("kimi-k2.6", 262_144, 262_144, [0.95, 4, 0.16, 0], { levels: "off high" }),
      model("kimi-k2.7-code", 262_144, 262_144, [0.95, 4, 0.19, 0], { levels: "high" }),
      model("kimi-k2.7-code-highspeed", 262_144, 262_144, [1.9, 8, 0.38, 0], { levels: "high" }),
      model("kimi-k3", 1_048_576, 1_048_576, [3, 15, 0.3, 0], { levels: "low high max" }),
      model("kimi-k3.1-pro", 1_048_576, 1_048_576, [2, 10, 0.2, 0], { levels: "low high max" }),
      model("kimi-k3.1-pro-highspeed", 1_048_576, 1_048_576, [4, 20, 0.2, 0], { levels: "low high max" }),
    ],
  }),
];

/** The provider used when nothing else is said. */
export const defaultProvider = "anthropic";

export function findProvider(name: string): CatalogProvider | undefined {
  return catalog.find((provider) => provider.name === name);
}
