// What each provider is sent, whole: the catalog's row for it, and what config.toml changes of that.
import { expect, test } from "bun:test";
import { createProvider } from "../../src/app/create-provider.ts";
import { type Flags, resolveConfig } from "../../src/config/config.ts";
import type { ConfigFile } from "../../src/config/file.ts";
import { catalog, defaultProvider } from "../../src/providers/catalog.ts";
import { assistant, toolCall, toolResult, user } from "../helpers/messages.ts";
import { startReplayServer } from "../helpers/replay-server.ts";

type Json = Record<string, unknown>;

const spec = { name: "read", description: "Reads", parameters: { type: "object", additionalProperties: false } };

/** The body of a request in a conversation that has called a tool, as the provider of this configuration gets it. */
async function sent(flags: Flags, file: ConfigFile = {}): Promise<Json> {
  await using server = await startReplayServer([{ turn: { text: "ok" } }]);
  const env = Object.fromEntries(catalog.map(({ keyEnv }) => [keyEnv, "k"]));
  const files = [{ path: "/config.toml", content: file }];
  const config = resolveConfig({ ...flags, baseUrl: server.url }, env, files, catalog, defaultProvider);
  const provider = await createProvider(config.provider, { env, cwd: "/" });
  const { name, api } = config.provider;
  const messages = [
    user("hi"),
    assistant([{ type: "thinking", thinking: "hm" }, toolCall("a", "read")], {
      provider: name,
      api,
      model: config.model.id,
    }),
    toolResult("a", "fine"),
  ];
  const request = {
    model: config.model,
    system: "be brief",
    messages,
    tools: [spec],
    maxTokens: config.maxTokens,
    temperature: config.temperature,
    thinkingLevel: config.thinkingLevel,
  };
  await Array.fromAsync(provider.stream(request, new AbortController().signal));
  expect(server.problems).toEqual([]);
  return server.requests[0]?.body;
}

/** A chat-completions body; `answer` is what its calls-only answer has beside the call. */
function chatBody(model: string, fields: Json, answer: Json = {}, system = "system", strict: Json = {}): Json {
  const call = { id: "a", type: "function", function: { name: "read", arguments: "{}" } };
  return {
    model,
    messages: [
      { role: system, content: "be brief" },
      { role: "user", content: "hi" },
      { role: "assistant", content: null, ...answer, tool_calls: [call] },
      { role: "tool", tool_call_id: "a", content: "fine" },
    ],
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      {
        type: "function",
        function: { name: "read", description: "Reads", parameters: spec.parameters, ...strict },
      },
    ],
    ...fields,
  };
}

const hm = { reasoning_content: "hm" };
const mine = (table: Json): ConfigFile => ({
  provider: "mine",
  providers: {
    mine: {
      base_url: "http://mine.test",
      models: [{ id: "one", reasoning: true }],
      ...table,
    },
  },
});

const geminiBody = chatBody("gemini-4-argon", { max_tokens: 8192, reasoning_effort: "high" });
const [geminiTool] = geminiBody.tools as { function: Json }[];
delete geminiTool?.function.parameters;

test.each<[string, Flags, ConfigFile, Json]>([
  ["openai", { provider: "openai" }, {}, chatBody("gpt-6.2-sol", { max_completion_tokens: 8192 })],
  [
    "openai with a level and a temperature",
    { provider: "openai", thinking: "medium", maxTokens: "99" },
    { temperature: 0.5 },
    chatBody("gpt-6.2-sol", { max_completion_tokens: 99, temperature: 0.5, reasoning_effort: "medium" }),
  ],
  ["gemini", { provider: "gemini", thinking: "max" }, {}, geminiBody],
  ["deepseek", { provider: "deepseek" }, {}, chatBody("deepseek-v4-pro", { max_tokens: 8192 }, hm)],
  [
    "deepseek that shall not think",
    { provider: "deepseek", thinking: "off" },
    {},
    chatBody("deepseek-v4-pro", { max_tokens: 8192, thinking: { type: "disabled" } }, hm),
  ],
  ["kimi", { provider: "kimi" }, {}, chatBody("kimi-k2.7-code", { max_tokens: 8192 }, hm)],
  [
    "kimi that shall think hard",
    { provider: "kimi", model: "kimi-k2.6", thinking: "xhigh" },
    {},
    chatBody("kimi-k2.6", { max_tokens: 8192, thinking: { type: "enabled" } }, hm),
  ],
  ["an own provider", {}, mine({}), chatBody("one", { max_tokens: 8192 }, hm)],
  [
    "an own provider with max_tokens_field",
    {},
    mine({ max_tokens_field: "max_completion_tokens" }),
    chatBody("one", { max_completion_tokens: 8192 }, hm),
  ],
  [
    "an own provider with calls_only_content = empty",
    {},
    mine({ calls_only_content: "empty" }),
    chatBody("one", { max_tokens: 8192 }, { ...hm, content: "" }),
  ],
  [
    "an own provider with reasoning_replay = never",
    {},
    mine({ reasoning_replay: "never" }),
    chatBody("one", { max_tokens: 8192 }),
  ],
  [
    "an own provider with system_role and strict_tools",
    {},
    mine({ system_role: "developer", strict_tools: "false" }),
    chatBody("one", { max_tokens: 8192 }, hm, "developer", { strict: false }),
  ],
  [
    "an own provider with thinking_format = none",
    { thinking: "high" },
    mine({ thinking_format: "none" }),
    chatBody("one", { max_tokens: 8192 }, hm),
  ],
  [
    "an own provider with a level",
    { thinking: "high" },
    mine({}),
    chatBody("one", { max_tokens: 8192, reasoning_effort: "high" }, hm),
  ],
  [
    "a known provider with a key of config.toml over its row",
    { provider: "openai" },
    { providers: { openai: { max_tokens_field: "max_tokens", reasoning_replay: "always" } } },
    chatBody("gpt-6.2-sol", { max_tokens: 8192 }, hm),
  ],
  [
    "anthropic over its compatible endpoint",
    { provider: "anthropic" },
    { providers: { anthropic: { api: "openai-completions" } } },
    chatBody("claude-opus-5-5", { max_tokens: 8192 }, hm),
  ],
])("%s", async (_name, flags, file, expected) => {
  expect(await sent(flags, file)).toEqual(expected);
});

test("an answer that only called tools may leave its content out", async () => {
  const body = await sent({}, mine({ calls_only_content: "omit" }));
  expect((body.messages as Json[])[2]).not.toHaveProperty("content");
});

test("anthropic is asked natively", async () => {
  expect(await sent({ provider: "anthropic", thinking: "low" })).toMatchObject({
    model: "claude-opus-5-5",
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "low" },
    tools: [{ name: "read", input_schema: spec.parameters }],
  });
});
