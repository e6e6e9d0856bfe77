// What only chat-completions servers ask of a conversation: their reasoning back, their attachments back, and parameters under other names.
import { describe, expect, test } from "bun:test";
import type { AssistantMessage, Message, ToolSpec } from "../../../src/protocol/message.ts";
import type { Model } from "../../../src/protocol/model.ts";
import { textDelta } from "../../helpers/chat-stream.ts";
import { type ConverseOptions, createPartner } from "../../helpers/converse.ts";
import { assistant, toolCall, toolResult, user } from "../../helpers/messages.ts";
import {
  type RecordedRequest,
  type Reply,
  refusal,
  type Script,
  startReplayServer,
} from "../../helpers/replay-server.ts";
import { chatWire } from "../../helpers/wire.ts";

const ok: Reply = { turn: { text: "ok" } };
const call = { id: "c1", name: "bash", arguments: { n: 1 } };

/** Prompts one after another to one partner, with one history. */
async function run(script: Script, options: ConverseOptions = {}, prompts: readonly string[] = ["do it"]) {
  await using server = await startReplayServer(script);
  const history: Message[] = [...(options.history ?? [])];
  const partner = createPartner(chatWire, server.url, { ...options, history });
  const outcomes = [];
  for (const prompt of prompts) outcomes.push(await partner({ prompt }));
  expect(server.problems).toEqual([]);
  return { outcomes, requests: server.requests, history };
}

function answersIn({ body }: RecordedRequest) {
  return body.messages.filter(({ role }: { role: string }) => role === "assistant");
}

const called = (content: object) => ({
  role: "assistant",
  content: null,
  ...content,
  tool_calls: [{ id: "c1", type: "function", function: { name: "bash", arguments: '{"n":1}' } }],
});

describe("reasoning", () => {
  const thoughtful: Reply = { turn: { reasoning: "let me see", calls: [call] } };
  const under = (field: string): Reply => ({
    body: [
      `data: ${JSON.stringify({ choices: [{ delta: { [field]: "let me see" } }] })}\n\n`,
      `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ ...call, index: 0, function: { name: "bash", arguments: '{"n":1}' } }] }, finish_reason: "tool_calls" }] })}\n\n`,
      "data: [DONE]\n\n",
    ],
  });

  test.each(["reasoning_content", "reasoning"])("goes back in the field it came in: %s", async (field) => {
    /** Refuses a second request without what it had said. */
    const strict: Script = (request, position) => {
      if (position === 0) return under(field);
      const [first] = answersIn(request);
      const back = first[field] === "let me see";
      return back ? ok : refusal(400, { error: { message: `${field} is missing in the assistant message` } });
    };
    const { outcomes, requests } = await run(strict, { quirks: { reasoningReplay: "required" } }, ["do it", "more"]);
    expect(outcomes.map(({ status }) => status)).toEqual(["done", "done"]);
    expect(answersIn(requests[2] as RecordedRequest)[0]).toEqual(called({ [field]: "let me see" }));
  });

  test("is an empty text where a server requires one and there was none", async () => {
    const { requests } = await run([{ turn: { calls: [call] } }, ok], { quirks: { reasoningReplay: "required" } });
    expect(answersIn(requests[1] as RecordedRequest)).toEqual([called({ reasoning_content: "" })]);
  });

  test("of a model that does not think is never made up", async () => {
    const { requests } = await run([{ turn: { calls: [call] } }, ok], {
      quirks: { reasoningReplay: "required" },
      model: { reasoning: false },
    });
    expect(answersIn(requests[1] as RecordedRequest)).toEqual([called({})]);
  });

  test("never goes to a server that refuses it", async () => {
    const { requests } = await run([thoughtful, ok], { quirks: { reasoningReplay: "never" } });
    expect(answersIn(requests[1] as RecordedRequest)).toEqual([called({})]);
  });

  test("never goes to another provider, which may require its own", async () => {
    const { history } = await run([thoughtful, ok], { provider: "kimi", quirks: { reasoningReplay: "required" } });
    const { requests } = await run([ok], { provider: "deepseek", quirks: { reasoningReplay: "always" }, history });
    expect(answersIn(requests[0] as RecordedRequest)[0]).toEqual(called({}));
    const required = await run([ok], { provider: "deepseek", quirks: { reasoningReplay: "required" }, history });
    expect(answersIn(required.requests[0] as RecordedRequest)[0]).toEqual(called({ reasoning_content: "" }));
  });
});

test.each<[string, Partial<AssistantMessage>, string | undefined, object]>([
  ["in the field it names", {}, "reasoning", { reasoning: "hm" }],
  ["in the usual field where it names none", {}, undefined, { reasoning_content: "hm" }],
  ["never in a field that is none, such as a signature", {}, "U0lHMQ==", { reasoning_content: "hm" }],
  ["not where it came over another API", { api: "anthropic-messages" }, "U0lHMQ==", {}],
])("reasoning of an earlier answer goes %s", async (_name, fields, thinkingSignature, expected) => {
  const thought = { type: "thinking" as const, thinking: "hm", ...(thinkingSignature ? { thinkingSignature } : {}) };
  const answer = assistant([thought, "so"], { provider: "test", api: chatWire.api, ...fields });
  const { requests } = await run([ok], { history: [user("hi"), answer] });
  expect(answersIn(requests[0] as RecordedRequest)).toEqual([{ role: "assistant", content: "so", ...expected }]);
});

describe("an image of the user", () => {
  const picture = user([
    { type: "text", text: "look" },
    { type: "image", mimeType: "image/png", data: "QUJD" },
  ]);

  test.each<[string, Model["input"], unknown]>([
    [
      "goes to a model that takes images",
      ["text", "image"],
      [
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } },
      ],
    ],
    ["is named to one that takes none", ["text"], "look\n[image: image/png]"],
  ])("%s", async (_name, input, expected) => {
    const { requests } = await run([ok], { model: { input }, history: [picture, assistant(["yes"])] });
    expect(requests[0]?.body.messages.at(1)).toEqual({ role: "user", content: expected });
  });
});

test("a server that refuses stream_options is asked without them where config.toml says so", async () => {
  const { requests } = await run([ok], { quirks: { streamUsage: false } });
  expect(requests[0]?.body).not.toHaveProperty("stream_options");
});

describe("what a provider attached to a call", () => {
  const extra_content = { google: { thought_signature: "S+/=" } };
  const signed: Reply = { turn: { calls: [{ ...call, extra: { extra_content } }] } };
  const strict: Script = (request, position) => {
    if (position === 0) return signed;
    const [{ tool_calls }] = answersIn(request);
    return Bun.deepEquals(tool_calls[0].extra_content, extra_content)
      ? ok
      : refusal(400, { error: { message: "Function call is missing a thought_signature" } });
  };

  test("goes back unchanged to the same provider, also from a history that was saved", async () => {
    const { outcomes, history } = await run(strict, { provider: "gemini" });
    expect(outcomes[0]?.status).toBe("done");
    const loaded = JSON.parse(JSON.stringify(history));
    const { requests } = await run([ok], { provider: "gemini", history: loaded });
    expect(answersIn(requests[0] as RecordedRequest)[0].tool_calls[0].extra_content).toEqual(extra_content);
  });

  test("goes to no other provider", async () => {
    const { history } = await run(strict, { provider: "gemini" });
    const { requests } = await run([ok], { provider: "openai", history });
    expect(requests[0]?.text).not.toContain("thought_signature");
  });

  test("is not made up for a call that another provider made", async () => {
    const history = [user("hi"), assistant([toolCall("a")], { provider: "openai" }), toolResult("a", "fine")];
    const { requests } = await run([ok], { provider: "gemini", history });
    expect(requests[0]?.text).not.toContain("extra_content");
  });
});

describe("a parameter that is refused", () => {
  const unsupported = (name: string, other = "") =>
    refusal(400, { error: { message: `Unsupported parameter: '${name}' is not supported with this model.${other}` } });
  const onlyDefault = refusal(400, {
    error: { message: "Unsupported value: 'temperature' does not support 0.2 with this model." },
  });
  /** The limit and the temperature of each request. */
  const limits = (requests: readonly RecordedRequest[]) =>
    requests.map(({ body: { max_tokens, max_completion_tokens, temperature } }) => ({
      ...(max_tokens === undefined ? {} : { max_tokens }),
      ...(max_completion_tokens === undefined ? {} : { max_completion_tokens }),
      ...(temperature === undefined ? {} : { temperature }),
    }));

  test.each([
    ["max_tokens", "max_completion_tokens"],
    ["max_completion_tokens", "max_tokens"],
  ] as const)("%s is asked again as %s, told once and remembered", async (refused, other) => {
    const { outcomes, requests } = await run(
      [unsupported(refused, ` Use '${other}' instead.`), ok, ok],
      { quirks: { maxTokensField: refused } },
      ["one", "two"],
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["done", "done"]);
    expect(limits(requests)).toEqual([{ [refused]: 1000 }, { [other]: 1000 }, { [other]: 1000 }] as never);
    expect(outcomes.flatMap(({ notices }) => notices)).toEqual([
      `test refused ${refused}; asked again with ${other} (providers.test.max_tokens_field = "${other}" in config.toml saves the detour)`,
    ]);
  });

  test("a temperature is asked again without it, told once and remembered", async () => {
    const { outcomes, requests } = await run([onlyDefault, ok, ok], { temperature: 0.2 }, ["one", "two"]);
    expect(limits(requests)).toEqual([
      { max_tokens: 1000, temperature: 0.2 },
      { max_tokens: 1000 },
      { max_tokens: 1000 },
    ]);
    expect(outcomes.flatMap(({ notices }) => notices)).toEqual([
      "test refused the temperature; asked again without it (it is set in config.toml)",
    ]);
  });

  test("two of them are each asked again", async () => {
    const { outcomes, requests } = await run([unsupported("max_tokens"), onlyDefault, ok], { temperature: 0.2 });
    expect(limits(requests).at(-1)).toEqual({ max_completion_tokens: 1000 });
    expect(outcomes[0]?.notices).toHaveLength(2);
  });

  test("in both its forms is an error that names the key to set", async () => {
    const { outcomes, requests } = await run([unsupported("max_tokens"), unsupported("max_completion_tokens")]);
    expect(requests).toHaveLength(2);
    expect(outcomes[0]?.error).toMatchObject({
      code: "bad_request",
      hint: "The provider does not take max_completion_tokens; providers.test.max_tokens_field in config.toml changes that.",
    });
  });

  test.each([
    ["of another kind", { message: "max_tokens is too large: 1000" }],
    ["that only mentions it", { message: "Please set max_tokens" }],
    ["without words", {}],
  ])("a 400 %s is not asked again", async (_name, error) => {
    const { outcomes, requests } = await run([refusal(400, { error })], { temperature: 0.2, maxRetries: 3 });
    expect({ asked: requests.length, code: outcomes[0]?.error?.code }).toEqual({ asked: 1, code: "bad_request" });
    expect(outcomes[0]?.error?.hint).toBeUndefined();
  });

  test.each([
    ["reasoning_content", "providers.test.reasoning_replay"],
    ["reasoning_effort", "providers.test.thinking_format"],
    ["thinking.type", "providers.test.thinking_format"],
    ["strict", "providers.test.strict_tools"],
    ["developer", "providers.test.system_role"],
    ["messages[2].reasoning_content", "providers.test.reasoning_replay"],
    ["tools[0].function.strict", "providers.test.strict_tools"],
    ["messages[0].role", "providers.test.system_role"],
    ["stream_options", "providers.test.stream_usage"],
  ])("%s has no other form: the error names %s", async (parameter, key) => {
    const { outcomes, requests } = await run([unsupported(parameter)]);
    expect(requests).toHaveLength(1);
    expect(outcomes[0]?.error?.hint).toBe(
      `The provider does not take ${parameter}; ${key} in config.toml changes that.`,
    );
  });
});

describe("tools for Gemini", () => {
  const spec = (name: string, parameters: Record<string, unknown>): ToolSpec => ({
    name,
    description: name,
    parameters: { type: "object", ...parameters },
  });
  const rich = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: { url: { type: "string", format: "uri" } },
    additionalProperties: false,
    properties: {
      url: { $ref: "#/$defs/url" },
      note: { type: ["string", "null"] },
      n: { type: "integer", exclusiveMinimum: 0 },
      kind: { const: "a" },
    },
    required: ["url"],
  };

  test("fit its subset of schemas, the others come after them, and one that cannot fit is left out and told once", async () => {
    const specs = [spec("good", rich), spec("bad", { type: "string" }), spec("plain", {})];
    const { requests, outcomes } = await run([ok, ok], { quirks: { toolSchema: "gemini" }, specs }, ["one", "two"]);
    expect(requests[0]?.body.tools.map(({ function: { name } }: { function: { name: string } }) => name)).toEqual([
      "good",
      "plain",
    ]);
    const sent = JSON.stringify(requests[0]?.body.tools);
    expect(sent).not.toMatch(/\$ref|\$defs|\$schema|additionalProperties|exclusiveMinimum|"const"|"null"/);
    expect(requests[0]?.body.tools[0].function.parameters).toMatchObject({
      type: "object",
      properties: { url: { type: "string" }, note: { type: "string", nullable: true }, n: { type: "integer" } },
      required: ["url"],
    });
    expect(requests[1]?.body.tools).toEqual(requests[0]?.body.tools);
    const told = outcomes.flatMap(({ notices }) => notices);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("bad");
  });

  test("elsewhere keep their schema as it is", async () => {
    const { requests, outcomes } = await run([ok], { specs: [spec("good", rich)] });
    expect(requests[0]?.body.tools[0].function.parameters).toEqual({ type: "object", ...rich });
    expect(outcomes[0]?.notices).toEqual([]);
  });
});

test("text after a call belongs to the same answer, and goes back before it", async () => {
  const late: Reply = {
    body: [
      `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ ...call, index: 0, function: { name: "bash", arguments: "{}" } }] } }] })}\n\n`,
      textDelta("after"),
      `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: "tool_calls" }] })}\n\n`,
    ],
  };
  const { requests } = await run([late, ok]);
  expect(answersIn(requests[1] as RecordedRequest)).toMatchObject([{ content: "after", tool_calls: [{ id: "c1" }] }]);
});
