// From a provider's token counts to usage with its cost.
import type { Usage } from "../protocol/message.ts";
import type { ModelCost } from "../protocol/model.ts";
import type { TokenCounts } from "./provider.ts";

/** Counts as usage, priced by the model's table; the tier is chosen by all of the input, cached or not. */
export function toUsage(counts: TokenCounts, prices: ModelCost): Usage {
  const prompt = counts.input + counts.cacheRead + counts.cacheWrite;
  let rate: Pick<ModelCost, "input" | "output" | "cacheRead" | "cacheWrite"> = prices;
  for (const tier of prices.tiers ?? []) if (prompt > tier.inputTokensAbove) rate = tier;
  const dollars = (tokens: number, perMillion: number) => (tokens * perMillion) / 1_000_000;
  const input = dollars(counts.input, rate.input);
  const output = dollars(counts.output, rate.output);
  const cacheRead = dollars(counts.cacheRead, rate.cacheRead);
  const cacheWrite = dollars(counts.cacheWrite, rate.cacheWrite);
  return {
    ...counts,
    totalTokens: prompt + counts.output,
    cost: {
      input,
      output,
      cacheRead,
      cacheWrite,
      total: input + output + cacheRead + cacheWrite,
      totalFromProvider: false,
    },
  };
}
