// What a session has come to: counts of its active branch, tokens and cost of all of it.
import type { SessionStats } from "../protocol/rpc.ts";
import { pathTo } from "../protocol/tree.ts";
import type { App } from "./app.ts";

export function sessionStats(app: App): SessionStats {
  const session = app.session();
  const messages = pathTo(session.entries(), session.leafId()).flatMap((entry) =>
    entry.type === "message" ? [entry.message] : [],
  );
  const count = (role: string) => messages.filter((message) => message.role === role).length;
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? message.content.filter(({ type }) => type === "toolCall") : [],
  );
  const { total } = app.usage();
  const { input, output, cacheRead, cacheWrite, totalTokens } = total;
  return {
    ...(session.path === undefined ? {} : { sessionFile: session.path }),
    sessionId: session.id,
    userMessages: count("user"),
    assistantMessages: count("assistant"),
    toolCalls: calls.length,
    toolResults: count("toolResult"),
    totalMessages: messages.length,
    tokens: { input, output, cacheRead, cacheWrite, total: totalTokens },
    cost: total.cost.total,
    contextUsage: contextUsage(app),
  };
}

function contextUsage(app: App): SessionStats["contextUsage"] {
  const { tokens, contextWindow, percent, isEstimate } = app.contextUsage();
  const isCompacted = app.messages().some(({ role }) => role === "compactionSummary");
  const isKnown = !isEstimate || !isCompacted;
  return { tokens: isKnown ? tokens : null, contextWindow, percent: isKnown ? percent : null };
}
