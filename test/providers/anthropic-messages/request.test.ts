// Request bodies of the Messages API, compared whole.
import { describe, expect, test } from "bun:test";
import type { ModelMessage, ToolSpec } from "../../../src/protocol/message.ts";
import { toMessagesBody } from "../../../src/providers/anthropic-messages/request.ts";
import type { ProviderRequest } from "../../../src/providers/provider.ts";
import { addressee, assistant, call, result, testModel, testRequest, user } from "./helpers.ts";

type Json = Record<string, unknown>;

const mark = { cache_control: { type: "ephemeral" } };
const text = (value: string) => ({ type: "text", text: value }) as const;
const png = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;
const sentPng = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
const elsewhere = { provider: "openai", api: "openai-completions", model: "gpt-test" };

function body(fields: Partial<ProviderRequest> = {}): Json {
  return toMessagesBody(testRequest(fields), addressee);
}

/** The messages sent, without cache marks. */
function sent(...messages: ModelMessage[]): unknown {
  return withoutMarks(body({ messages }).messages);
}

function withoutMarks(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, item) => (key === "cache_control" ? undefined : item)));
}

const tools: ToolSpec[] = [
  { name: "bash", description: "Runs a command", parameters: { type: "object", properties: {} } },
  { name: "read", description: "Reads a file", parameters: { type: "object", properties: { path: {} } } },
];

test("system, tools and messages each get their place and their cache mark", () => {
  expect(body({ system: "Be brief.", tools, messages: [user("hi")] })).toEqual({
    model: "claude-test",
    stream: true,
    max_tokens: 8192,
    tools: [
      { name: "bash", description: "Runs a command", input_schema: { type: "object", properties: {} } },
      {
        name: "read",
        description: "Reads a file",
        input_schema: { type: "object", properties: { path: {} } },
        ...mark,
      },
    ],
    system: [{ ...text("Be brief."), ...mark }],
    messages: [{ role: "user", content: [{ ...text("hi"), ...mark }] }],
  });
});

test("without system and tools there are no empty fields", () => {
  expect(body()).toEqual({
    model: "claude-test",
    stream: true,
    max_tokens: 8192,
    messages: [{ role: "user", content: [{ ...text("hi"), ...mark }] }],
  });
});

describe("messages", () => {
  const table: [string, ModelMessage[], unknown[]][] = [
    [
      "results become one user turn right behind their calls",
      [
        user("go"),
        assistant([text("Both."), call("toolu_1", { path: "a" }), call("toolu_2")]),
        result("toolu_1", "one"),
        result("toolu_2", "no such file", true),
        assistant([text("Done.")]),
        user("thanks"),
      ],
      [
        { role: "user", content: [text("go")] },
        {
          role: "assistant",
          content: [
            text("Both."),
            { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
            { type: "tool_use", id: "toolu_2", name: "read", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: [text("one")] },
            { type: "tool_result", tool_use_id: "toolu_2", content: [text("no such file")], is_error: true },
          ],
        },
        { role: "assistant", content: [text("Done.")] },
        { role: "user", content: [text("thanks")] },
      ],
    ],
    [
      "a prompt behind results joins their turn, and so does the prompt after it",
      [assistant([call("toolu_1")]), result("toolu_1", "one"), user("stop"), user([text("and"), png])],
      [
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: {} }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: [text("one")] },
            text("stop"),
            text("and"),
            sentPng,
          ],
        },
      ],
    ],
    [
      "results come first in their turn, in their order",
      [assistant([call("a"), call("b")]), result("a", "1"), user("hm"), result("b", "2")],
      [
        {
          role: "assistant",
          content: ["a", "b"].map((id) => ({ type: "tool_use", id, name: "read", input: {} })),
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: [text("1")] },
            { type: "tool_result", tool_use_id: "b", content: [text("2")] },
            text("hm"),
          ],
        },
      ],
    ],
    [
      "blank texts are left out, and messages with nothing else",
      [
        user("go"),
        assistant([text("\n"), call("toolu_1"), text("")]),
        result("toolu_1", " \n"),
        user("  "),
        assistant([text(" ")]),
        user([text(""), text("on")]),
      ],
      [
        { role: "user", content: [text("go")] },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }, text("on")] },
      ],
    ],
    [
      "images go along, in prompts and in results; what the API has no type for is named",
      [
        user([text("look"), png]),
        assistant([call("toolu_1")]),
        result("toolu_1", [text("it:"), png, { type: "image", data: "Qk0=", mimeType: "image/bmp" }]),
      ],
      [
        { role: "user", content: [text("look"), sentPng] },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "toolu_1",
              content: [text("it:"), sentPng, text("[image: image/bmp]")],
            },
          ],
        },
      ],
    ],
    [
      "a paused answer is asked to go on, and stays that way in later requests",
      [user("go"), assistant([text("Half.")]), assistant([text("Whole.")]), user("thanks")],
      [
        { role: "user", content: [text("go")] },
        { role: "assistant", content: [text("Half.")] },
        { role: "user", content: [text("Continue.")] },
        { role: "assistant", content: [text("Whole.")] },
        { role: "user", content: [text("thanks")] },
      ],
    ],
    [
      "a conversation never ends with the model's own words",
      [user("go"), assistant([text("Half.")])],
      [
        { role: "user", content: [text("go")] },
        { role: "assistant", content: [text("Half.")] },
        { role: "user", content: [text("Continue.")] },
      ],
    ],
  ];

  test.each(table)("%s", (_name, messages, expected) => {
    expect(sent(...messages)).toEqual(expected);
  });

  test("a model that takes no images gets their names", () => {
    const { messages } = body({ model: testModel({ input: ["text"] }), messages: [user([png])] });
    expect(withoutMarks(messages)).toEqual([{ role: "user", content: [text("[image: image/png]")] }]);
  });
});

describe("thinking of earlier answers", () => {
  const content = [
    { type: "thinking", thinking: "Hm.", thinkingSignature: "U0lH" } as const,
    { type: "thinking", thinking: "", thinkingSignature: "T01J" } as const,
    { type: "thinking", thinking: "", thinkingSignature: "UkVE", redacted: true } as const,
    { type: "thinking", thinking: "cut before it was sig" } as const,
    text("So."),
  ];
  const signed = [
    { type: "thinking", thinking: "Hm.", signature: "U0lH" },
    { type: "thinking", thinking: "", signature: "T01J" },
    { type: "redacted_thinking", data: "UkVE" },
    text("So."),
  ];

  test.each([
    ["goes back to the model that wrote it", {}, signed],
    ["stays away from another model", { model: "claude-other" }, [text("So.")]],
    ["stays away from another provider", { provider: "gateway" }, [text("So.")]],
    ["stays away from another API of the provider", { api: "openai-completions" }, [text("So.")]],
  ])("%s", (_name, from, expected) => {
    expect(sent(user("go"), assistant(content, from), user("on"))).toEqual([
      { role: "user", content: [text("go")] },
      { role: "assistant", content: expected },
      { role: "user", content: [text("on")] },
    ]);
  });

  test("an answer that was nothing but another model's thinking is left out", () => {
    expect(sent(user("go"), assistant(content.slice(0, 1), elsewhere), user("on"))).toEqual([
      { role: "user", content: [text("go"), text("on")] },
    ]);
  });
});

describe("tool-call ids", () => {
  function idsSent(...messages: ModelMessage[]): unknown[] {
    const turns = sent(...messages) as { content: Json[] }[];
    return turns.map(({ content }) => content.map((block) => block.id ?? block.tool_use_id ?? block.type));
  }

  test("its own go back byte for byte, whatever they look like", () => {
    const history = [assistant([call("functions.bash:0")]), result("functions.bash:0", "x")];
    expect(idsSent(...history)).toEqual([["functions.bash:0"], ["functions.bash:0"]]);
  });

  test("another provider's become ones the API takes, the same for call and result", () => {
    const long = "x".repeat(80);
    const history = [
      assistant([call("functions.bash:0"), call("call_ok-1"), call(long)], elsewhere),
      result("functions.bash:0", "x"),
      result("call_ok-1", "y"),
      result(long, "z"),
    ];
    const ids = ["functions_bash_0", "call_ok-1", long.slice(0, 64)];
    expect(idsSent(...history)).toEqual([ids, ids]);
  });

  test("another provider's that would collide are told apart, also from turn to turn and from its own", () => {
    const history = [
      assistant([call("a:1"), call("a.1")], elsewhere),
      result("a:1", "x"),
      result("a.1", "y"),
      assistant([call("a:1")], elsewhere),
      result("a:1", "z"),
      assistant([call("a_1_2")]),
      result("a_1_2", "own"),
    ];
    expect(idsSent(...history)).toEqual([
      ["a_1", "a_1_3"],
      ["a_1", "a_1_3"],
      ["a_1_4"],
      ["a_1_4"],
      ["a_1_2"],
      ["a_1_2"],
    ]);
  });
});

describe("temperature", () => {
  const adaptive = testModel({ adaptiveThinking: true, thinkingLevels: ["off", "low", "high"] });
  test.each([
    ["is sent when it is set", testRequest({ temperature: 0.2 }), 0.2],
    ["zero counts as set", testRequest({ temperature: 0 }), 0],
    ["is not sent when it is not set", testRequest(), undefined],
    ["is not sent beside a thinking budget", testRequest({ temperature: 0.2, thinkingLevel: "low" }), undefined],
    [
      "is not sent beside adaptive thinking",
      testRequest({ model: adaptive, temperature: 0.2, thinkingLevel: "low" }),
      undefined,
    ],
    ["is sent when thinking is off", testRequest({ model: adaptive, temperature: 0.2, thinkingLevel: "off" }), 0.2],
  ])("%s", (_name, request, expected) => {
    expect(toMessagesBody(request, addressee).temperature).toBe(expected as number);
  });
});

describe("prompt caching", () => {
  const conversation: ModelMessage[] = [
    user("one"),
    assistant([{ type: "thinking", thinking: "Hm.", thinkingSignature: "U0lH" }, call("toolu_1", { path: "a" })]),
    result("toolu_1", [text("file"), png]),
    assistant([text("Look:"), call("toolu_2"), call("toolu_3")]),
    result("toolu_2", "two"),
    result("toolu_3", "three"),
    assistant([text("Done.")]),
    user([text("and"), png]),
    assistant([call("exec:0")], elsewhere),
    result("exec:0", "four"),
  ];
  /** Where a request is sent: behind every prompt and every round of results. */
  const requests = [1, 3, 6, 8, 10].map((length) =>
    body({ system: "S", tools, messages: conversation.slice(0, length) }),
  );
  const turnsOf = (request: Json) => request.messages as { role: string; content: Json[] }[];

  test("the bytes of system and tools stay the same while a conversation grows", () => {
    const heads = requests.map(({ system, tools: specs }) => JSON.stringify([system, specs]));
    expect(new Set(heads).size).toBe(1);
  });

  test("the bytes of old messages stay the same, apart from where the marks sit", () => {
    const sequences = requests.map((request) => turnsOf(request).map((turn) => JSON.stringify(withoutMarks(turn))));
    for (const [i, sequence] of sequences.entries()) {
      expect(sequences.at(-1)?.slice(0, sequence.length)).toEqual(sequence);
      expect(sequence.length).toBe([1, 3, 5, 7, 9][i] as number);
    }
  });

  test("never more than four marks; each request finds the last mark of the one before it", () => {
    let previous: number | undefined;
    for (const request of requests) {
      expect(JSON.stringify(request).split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
      const marked = turnsOf(request).flatMap(({ content }, i) => (content.at(-1)?.cache_control ? [i] : []));
      if (previous !== undefined) expect(marked).toContain(previous);
      previous = turnsOf(request).length - 1;
      expect(marked).toContain(previous);
    }
  });

  test("a mark never changes the messages it was made from", () => {
    expect(JSON.stringify(conversation)).not.toContain("cache_control");
  });
});
