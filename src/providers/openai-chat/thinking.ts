// A thinking level → the request fields that ask for it (the vendors' references: OpenAI and Gemini `reasoning_effort`, DeepSeek and Moonshot
// `thinking`). Pure.
import type { ThinkingLevel } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import { thinkingLevels } from "../../protocol/thinking-level.ts";
import type { Quirks } from "../quirks.ts";
import { nearestLevel } from "../thinking-level.ts";

export interface ThinkingFields {
  readonly reasoning_effort?: string;
  readonly thinking?: { readonly type: "enabled" | "disabled" };
}

/**
 * Without a level nothing is asked for. A level that the model does not tell apart becomes the nearest one it does; `off` for a model that
 * always thinks becomes its least level.
 */
export function toThinking(level: ThinkingLevel | undefined, model: Model, format: Quirks["thinking"]): ThinkingFields {
  if (level === undefined || !model.reasoning || format === "none") return {};
  const known: readonly ThinkingLevel[] = model.thinkingLevels ?? thinkingLevels;
  const nearest = nearestLevel(level, known) ?? level;
  const efforts = known.filter((each) => each !== "off");
  const isOff = nearest === "off";
  const byType = format === "thinking_type" && known.includes("off");
  const effort = isOff ? (byType ? undefined : "none") : efforts.length > 1 ? nearest : undefined;
  return {
    ...(byType ? { thinking: { type: isOff ? "disabled" : "enabled" } as const } : {}),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
  };
}
