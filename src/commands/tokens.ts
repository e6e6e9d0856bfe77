// `/tokens`: how full the context is, and what the last answer and the conversation have cost.
import type { ContextUsage } from "../app/context.ts";
import type { Usage } from "../protocol/message.ts";
import type { Command } from "./command.ts";

export const tokens: Command = {
  name: "tokens",
  summary: "Context used and left; tokens and cost of the last answer and the conversation",
  run({ app }) {
    const { last, total } = app.usage();
    const context = describeContext(app.contextUsage());
    if (!last) return { text: `${context}\n\nNo tokens used in this conversation.` };
    const rows = [["", "input", "cached", "output", "cost"], row("last answer", last), row("conversation", total)];
    return { text: `${context}\n\n${table(rows)}` };
  },
};

function describeContext({ tokens, contextWindow, percent, isEstimate }: ContextUsage): string {
  const share = `${Math.round(percent)} %${isEstimate ? ", estimated" : ""}`;
  return table([
    ["context window", count(contextWindow)],
    ["used", count(tokens), `(${share})`],
    ["left", count(Math.max(0, contextWindow - tokens))],
  ]);
}

/** Input is all of it, whether it was cached or not. */
function row(name: string, { input, cacheRead, cacheWrite, output, cost }: Usage): string[] {
  return [name, count(input + cacheRead + cacheWrite), count(cacheRead), count(output), dollars(cost.total)];
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** `$0.0123`; small sums keep two digits that say something. A model without a known price costs nothing that can be told. */
export function dollars(amount: number): string {
  if (amount === 0) return "unknown";
  const decimals = amount >= 1 ? 2 : Math.min(8, Math.max(4, 1 - Math.floor(Math.log10(amount))));
  return `$${amount.toFixed(decimals)}`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    )
    .join("\n");
}
