// Thinking levels as request fields, by provider and model of the catalog.
import { expect, test } from "bun:test";
import type { ThinkingLevel } from "../../../src/protocol/message.ts";
import { findProvider } from "../../../src/providers/catalog.ts";
import { toThinking } from "../../../src/providers/openai-chat/thinking.ts";
import { defaultQuirks } from "../../../src/providers/quirks.ts";
import { testModel } from "../../helpers/scripted-provider.ts";

function fields(provider: string, id: string, level: ThinkingLevel | undefined) {
  const row = findProvider(provider);
  const model = row?.models.find((entry) => entry.id === id);
  if (!model) throw new Error(`${provider}/${id} is not in the catalog`);
  return toThinking(level, { ...testModel, ...model }, row?.quirks?.thinking ?? defaultQuirks.thinking);
}

const on = { thinking: { type: "enabled" } };
const off = { thinking: { type: "disabled" } };
const effort = (reasoning_effort: string) => ({ reasoning_effort });

test.each<[provider: string, model: string, level: ThinkingLevel | undefined, expected: object]>([
  ["openai", "gpt-5", undefined, {}],
  ["openai", "gpt-5", "off", effort("minimal")],
  ["openai", "gpt-5", "xhigh", effort("high")],
  ["openai", "gpt-5.2", "off", effort("none")],
  ["openai", "gpt-5.2", "minimal", effort("low")],
  ["openai", "gpt-5.2", "max", effort("xhigh")],
  ["openai", "gpt-6.2-sol", "max", effort("max")],
  ["openai", "gpt-6.2-sol", "off", effort("low")],
  ["openai", "gpt-4.1", "high", {}],
  ["openai", "gpt-5-pro", "low", {}],
  ["gemini", "gemini-2.5-flash", "off", effort("none")],
  ["gemini", "gemini-3-flash-preview", "off", effort("minimal")],
  ["gemini", "gemini-4-argon", "max", effort("high")],
  ["deepseek", "deepseek-v4-pro", undefined, {}],
  ["deepseek", "deepseek-v4-pro", "off", off],
  ["deepseek", "deepseek-v4-pro", "low", { ...on, ...effort("high") }],
  ["deepseek", "deepseek-v4-pro", "max", { ...on, ...effort("max") }],
  ["kimi", "kimi-k2.6", "off", off],
  ["kimi", "kimi-k2.6", "medium", on],
  ["kimi", "kimi-k2.7-code", "off", {}],
  ["kimi", "kimi-k3", "minimal", effort("low")],
])("%s %s at %s", (provider, model, level, expected) => {
  expect(fields(provider, model, level)).toEqual(expected as never);
});

test.each<[string, Parameters<typeof toThinking>[2], boolean, ThinkingLevel, object]>([
  ["asked for nothing", "none", true, "high", {}],
  ["by effort", "reasoning_effort", true, "high", effort("high")],
  ["by effort, turned off", "reasoning_effort", true, "off", effort("none")],
  ["by type", "thinking_type", true, "high", { ...on, ...effort("high") }],
  ["by type, turned off", "thinking_type", true, "off", off],
  ["a model that does not think", "reasoning_effort", false, "high", {}],
])("a model of unknown levels, %s", (_name, format, reasoning, level, expected) => {
  expect(toThinking(level, { ...testModel, reasoning }, format)).toEqual(expected as never);
});
