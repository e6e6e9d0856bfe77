// Models as the catalog describes them and clients see them.
import * as z from "zod/mini";
import { ThinkingLevel } from "./message.ts";

const prices = {
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
};

/** US dollars per million tokens. A tier applies to the whole request once its input (cached included) is above `inputTokensAbove`. */
export const ModelCost = z.looseObject({
  ...prices,
  tiers: z.optional(z.array(z.looseObject({ inputTokensAbove: z.number(), ...prices }))),
});
export type ModelCost = z.infer<typeof ModelCost>;

/** `contextWindow` and `maxTokens` (the most a model can answer with) are in tokens. */
export const Model = z.looseObject({
  id: z.string(),
  name: z.string(),
  api: z.string(),
  provider: z.string(),
  baseUrl: z.string(),
  reasoning: z.boolean(),
  /** The thinking levels it tells apart; absent when that is not known. */
  thinkingLevels: z.optional(z.array(ThinkingLevel)),
  /** It decides itself how long to think, guided by an effort, instead of taking a token budget (Anthropic). */
  adaptiveThinking: z.optional(z.boolean()),
  input: z.array(z.enum(["text", "image"])),
  cost: ModelCost,
  contextWindow: z.number(),
  maxTokens: z.number(),
});
export type Model = z.infer<typeof Model>;
