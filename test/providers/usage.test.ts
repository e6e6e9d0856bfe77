// Token counts → usage with its cost, also of prices that depend on the size of the request.
import { expect, test } from "bun:test";
import { addUsage, emptyUsage } from "../../src/protocol/usage.ts";
import type { TokenCounts } from "../../src/providers/provider.ts";
import { toUsage } from "../../src/providers/usage.ts";

const flat = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
const tiered = {
  ...flat,
  tiers: [
    { inputTokensAbove: 200_000, input: 4, output: 15, cacheRead: 0.4, cacheWrite: 5 },
    { inputTokensAbove: 500_000, input: 8, output: 30, cacheRead: 0.8, cacheWrite: 10 },
  ],
};

function counts(input: number, output = 0, cacheRead = 0, cacheWrite = 0): TokenCounts {
  return { input, output, cacheRead, cacheWrite };
}

test.each<[string, typeof flat, TokenCounts, [input: number, output: number, read: number, write: number]]>([
  ["nothing costs nothing", flat, counts(0), [0, 0, 0, 0]],
  ["each kind has its price", flat, counts(1_000_000, 100_000, 500_000, 200_000), [2, 1, 0.1, 0.5]],
  ["up to the edge of a tier the base counts", tiered, counts(200_000, 100_000), [0.4, 1, 0, 0]],
  ["above it the tier counts for all of the request", tiered, counts(200_001, 100_000), [0.800004, 1.5, 0, 0]],
  ["cached tokens count for the tier", tiered, counts(1, 0, 150_000, 50_000), [0.000004, 0, 0.06, 0.25]],
  ["the highest tier that is reached counts", tiered, counts(600_000, 100_000), [4.8, 3, 0, 0]],
  ["without prices it is free", { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, counts(9, 9, 9, 9), [0, 0, 0, 0]],
])("%s", (_name, prices, tokens, [input, output, cacheRead, cacheWrite]) => {
  const near = (dollars: number) => expect.closeTo(dollars, 9);
  expect(toUsage(tokens, prices)).toEqual({
    ...tokens,
    totalTokens: tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite,
    cost: {
      input: near(input),
      output: near(output),
      cacheRead: near(cacheRead),
      cacheWrite: near(cacheWrite),
      total: near(input + output + cacheRead + cacheWrite),
      totalFromProvider: false,
    },
  });
});

test("reasoning stays visible inside the output", () => {
  expect(toUsage({ ...counts(1, 5), reasoning: 3 }, flat)).toMatchObject({ output: 5, reasoning: 3, totalTokens: 6 });
});

test("a sum has the tokens and the dollars of both", () => {
  const usage = toUsage(counts(1_000_000, 100_000, 500_000, 200_000), flat);
  expect(addUsage(emptyUsage(), usage)).toMatchObject({
    totalTokens: 1_800_000,
    cost: { total: expect.closeTo(3.6, 9) },
  });
  expect(addUsage(usage, usage)).toMatchObject({
    input: 2_000_000,
    cacheWrite: 400_000,
    cost: { input: 4, output: 2 },
  });
});
