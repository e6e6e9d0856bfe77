// From a provider's token counts to usage with its cost.
import type { Usage } from "../protocol/message.ts";
import type { ModelCost } from "../protocol/model.ts";
import type { TokenCounts } from "./provider.ts";

/** A fresh usage of nothing. */
export function emptyUsage(): Usage {
  return {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}

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

/** The sum of usages, such as a session's total. */
export function addUsage(a: Usage, b: Usage): Usage {
  const reasoning = sumOf(a.reasoning, b.reasoning);
  const isTold = a.cost.totalFromProvider !== undefined || b.cost.totalFromProvider !== undefined;
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    ...(reasoning === undefined ? {} : { reasoning }),
    totalTokens: a.totalTokens + b.totalTokens,
    cost: {
      input: a.cost.input + b.cost.input,
      output: a.cost.output + b.cost.output,
      cacheRead: a.cost.cacheRead + b.cost.cacheRead,
      cacheWrite: a.cost.cacheWrite + b.cost.cacheWrite,
      total: a.cost.total + b.cost.total,
      ...(isTold ? { totalFromProvider: false } : {}),
    },
  };
}

/** Undefined where neither is known. */
function sumOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
