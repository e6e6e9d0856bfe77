// What a text in the place of a model's id means: a part of it, a pattern, a level behind a colon.
import { expect, test } from "bun:test";
import { findModel, findScope, type KnownModels, type ScopedModel } from "../../src/app/model-patterns.ts";

const known: KnownModels = {
  models: [
    { provider: "anthropic", id: "claude-opus-5" },
    { provider: "anthropic", id: "claude-sonnet-5-1" },
    { provider: "anthropic", id: "claude-sonnet-5" },
    { provider: "openai", id: "gpt-6" },
    { provider: "openai", id: "gpt-6-mini" },
    { provider: "local", id: "qwen3:8b" },
    { provider: "local", id: "gpt-6-mini-gguf" },
    { provider: "local", id: "odd:high" },
    { provider: "router", id: "anthropic/claude-sonnet-5" },
  ],
  isReachable: (provider) => provider !== "router" && provider !== "local",
};

function describe({ provider, id, thinkingLevel }: ScopedModel): string {
  return `${provider}/${id}${thinkingLevel ? `:${thinkingLevel}` : ""}`;
}

test.each<[text: string, provider: string | undefined, meant: string | undefined]>([
  ["claude-sonnet-5", undefined, undefined],
  ["anthropic/claude-sonnet-5", undefined, undefined],
  ["sonnet", undefined, "anthropic/claude-sonnet-5-1"],
  ["SONNET:high", undefined, "anthropic/claude-sonnet-5-1:high"],
  ["anthropic/opus", undefined, "anthropic/claude-opus-5"],
  ["claude-*-5", undefined, "anthropic/claude-opus-5"],
  ["mini", "local", "local/gpt-6-mini-gguf"],
  ["mini", undefined, "openai/gpt-6-mini"],
  ["claude-opus-5:low", undefined, "/claude-opus-5:low"],
  ["qwen3:8b", undefined, undefined],
  ["qwen3:8b:max", "local", "/qwen3:8b:max"],
  ["odd:high", undefined, undefined],
  ["never-heard-of", undefined, undefined],
  ["never-heard-of:low", "openai", "/never-heard-of:low"],
  ["a+b", undefined, undefined],
])("--model %s of provider %s", (text, provider, meant) => {
  const model = findModel(text, provider, known);
  expect(model && describe(model)).toBe(meant as string);
});

test("a text that fits models of several providers with keys names them", () => {
  expect(() => findModel("5", undefined, { ...known, isReachable: () => true })).toThrow(
    expect.objectContaining({ code: "usage", message: expect.stringContaining("router/anthropic/claude-sonnet-5") }),
  );
});

test.each<[patterns: string, models: string[]]>([
  ["gpt-6", ["openai/gpt-6"]],
  ["gpt*", ["openai/gpt-6", "openai/gpt-6-mini", "local/gpt-6-mini-gguf"]],
  ["sonnet:high", ["anthropic/claude-sonnet-5-1:high", "router/anthropic/claude-sonnet-5:high"]],
  ["openai/gpt-6-mini, opus,, gpt-6-mini", ["openai/gpt-6-mini", "anthropic/claude-opus-5"]],
  ["odd:high", ["local/odd:high"]],
])("--models %s", (patterns, models) => {
  expect(findScope(patterns, known).map(describe)).toEqual(models);
});

test.each(["nothing-like-it", " , "])("--models %j is a usage error", (patterns) => {
  expect(() => findScope(patterns, known)).toThrow(expect.objectContaining({ code: "usage" }));
});
