// `/tokens`: how full the context is, and what the last answer and the conversation have cost.
import type { ContextUsage } from "../app/context.ts";
import type { Usage } from "../protocol/message.ts";
import { dollars, grouped } from "../util/numbers.ts";
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
    ["context window", grouped(contextWindow)],
    ["used", grouped(tokens), `(${share})`],
    ["left", grouped(Math.max(0, contextWindow - tokens))],
  ]);
}

/** Input is all of it, whether it was cached or not. */
function row(name: string, { input, cacheRead, cacheWrite, output, cost }: Usage): string[] {
  const price = dollars(cost.total) ?? "unknown";
  return [name, grouped(input + cacheRead + cacheWrite), grouped(cacheRead), grouped(output), price];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    )
    .join("\n");
}
