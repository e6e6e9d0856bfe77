// Sums of usage. Pure.
import type { Usage } from "./message.ts";

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
