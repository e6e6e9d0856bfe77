// Thinking levels as request fields, by kind of model.
import { expect, test } from "bun:test";
import type { ThinkingLevel } from "../../../src/protocol/message.ts";
import type { Model } from "../../../src/protocol/model.ts";
import { toThinking } from "../../../src/providers/anthropic-messages/thinking.ts";
import { testModel } from "./helpers.ts";

const budgets = testModel({ maxTokens: 64_000 });
const plain = testModel({ reasoning: false });
const adaptive = testModel({ adaptiveThinking: true, thinkingLevels: ["off", "low", "medium", "high", "max"] });
const always = testModel({ adaptiveThinking: true, thinkingLevels: ["low", "medium", "high", "xhigh", "max"] });
const unknown = testModel({ adaptiveThinking: true });

const thinks = (max_tokens: number, effort: string) => ({
  max_tokens,
  thinking: { type: "adaptive", display: "summarized" },
  output_config: { effort },
});
const enabled = (max_tokens: number, budget_tokens: number) => ({
  max_tokens,
  thinking: { type: "enabled", budget_tokens },
});
const unchanged = { max_tokens: 8192 };

const table: [string, Model, ThinkingLevel | undefined, unknown][] = [
  ["a model without reasoning", plain, "high", unchanged],
  ["a model without reasoning", plain, "off", unchanged],
  ["a budget model", budgets, undefined, unchanged],
  ["a budget model", budgets, "off", unchanged],
  ["a budget model", budgets, "minimal", enabled(9216, 1024)],
  ["a budget model", budgets, "low", enabled(10_240, 2048)],
  ["a budget model", budgets, "medium", enabled(16_384, 8192)],
  ["a budget model", budgets, "high", enabled(24_576, 16_384)],
  ["a budget model", budgets, "xhigh", enabled(40_960, 32_768)],
  ["a budget model", budgets, "max", enabled(40_960, 32_768)],
  ["an adaptive model", adaptive, undefined, unchanged],
  ["an adaptive model", adaptive, "off", { max_tokens: 8192, thinking: { type: "disabled" } }],
  ["an adaptive model", adaptive, "minimal", thinks(9216, "low")],
  ["an adaptive model", adaptive, "low", thinks(10_240, "low")],
  ["an adaptive model", adaptive, "medium", thinks(16_384, "medium")],
  ["an adaptive model", adaptive, "high", thinks(24_576, "high")],
  ["an adaptive model without xhigh", adaptive, "xhigh", thinks(40_960, "high")],
  ["an adaptive model", adaptive, "max", thinks(40_960, "max")],
  ["a model that always thinks", always, "off", { max_tokens: 8192, output_config: { effort: "low" } }],
  ["a model that always thinks", always, "xhigh", thinks(40_960, "xhigh")],
  ["an adaptive model of unknown levels", unknown, "off", unchanged],
  ["an adaptive model of unknown levels", unknown, "xhigh", thinks(40_960, "xhigh")],
];

test.each(table)("%s (%#) at its level", (_kind, model, level, expected) => {
  expect(toThinking(level, model, 8192)).toEqual(expected as never);
});

test.each([
  ["the answer keeps half where the limit cannot be raised", 8192, 8192, enabled(8192, 4096)],
  ["the limit is raised as far as the model goes", 60_000, 64_000, enabled(64_000, 32_000)],
  ["a short answer keeps its few tokens", 100, 64_000, enabled(32_868, 32_768)],
  ["no room for the smallest budget: no thinking", 1500, 1500, { max_tokens: 1500 }],
  ["a limit above the model's own is left as it is", 9000, 8000, enabled(9000, 4500)],
])("%s", (_name, answerTokens, maxTokens, expected) => {
  expect(toThinking("max", testModel({ maxTokens }), answerTokens)).toEqual(expected as never);
});
