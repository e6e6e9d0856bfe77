// A thinking level → the request fields that ask for it (Anthropic documentation, "Extended thinking", "Adaptive thinking", "Effort"). Pure.
import type { ThinkingLevel } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import { nearestLevel } from "../thinking-level.ts";

/** What of a request's body depends on the thinking level. */
export interface ThinkingFields {
  readonly max_tokens: number;
  readonly thinking?:
    | { readonly type: "disabled" }
    | { readonly type: "adaptive"; readonly display: "summarized" }
    | { readonly type: "enabled"; readonly budget_tokens: number };
  readonly output_config?: { readonly effort: Effort };
}

type Effort = "low" | "medium" | "high" | "xhigh" | "max";

const efforts: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

/** Tokens to think with, beside those for the answer. */
const budgets: Readonly<Record<Exclude<ThinkingLevel, "off">, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};

/** The API takes no smaller budget. */
const smallestBudget = 1024;

/**
 * `answerTokens` are those the answer may have; thinking counts against the same limit, so the limit is raised by what thinking may
 * take, as far as the model goes. Without a level nothing is asked for and the model does as it does by default.
 */
export function toThinking(level: ThinkingLevel | undefined, model: Model, answerTokens: number): ThinkingFields {
  const unchanged = { max_tokens: answerTokens };
  if (level === undefined || !model.reasoning) return unchanged;
  if (level === "off") return model.adaptiveThinking ? { ...unchanged, ...turnOff(model) } : unchanged;
  const limit = Math.max(answerTokens, Math.min(answerTokens + budgets[level], model.maxTokens));
  if (model.adaptiveThinking) {
    return {
      max_tokens: limit,
      // Newer models leave the text of their thinking out unless asked for it.
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: nearestEffort(level, model) },
    };
  }
  // Under a limit that could not be raised far enough, the answer keeps half.
  const budget = Math.min(budgets[level], limit - Math.min(answerTokens, Math.floor(limit / 2)));
  if (budget < smallestBudget) return unchanged;
  return { max_tokens: limit, thinking: { type: "enabled", budget_tokens: budget } };
}

/**
 * Some adaptive models think unless told not to; some refuse to be told (a 400). The latter have no level `off` in their list and get the
 * least effort instead; where the list is unknown nothing is said.
 */
function turnOff(model: Model): Omit<ThinkingFields, "max_tokens"> {
  if (!model.thinkingLevels) return {};
  if (model.thinkingLevels.includes("off")) return { thinking: { type: "disabled" } };
  return { output_config: { effort: nearestEffort("minimal", model) } };
}

/** The effort nearest to the level among those the model tells apart; all of them where that is unknown. */
function nearestEffort(level: ThinkingLevel, model: Model): Effort {
  const known = efforts.filter((effort) => model.thinkingLevels?.includes(effort) ?? true);
  return (nearestLevel(level, known) as Effort | undefined) ?? "low";
}
