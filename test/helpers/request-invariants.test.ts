// The checks of requests themselves: what they let pass, and what they name.
import { describe, expect, test } from "bun:test";
import { checkRequest } from "./request-invariants.ts";

const encode = (body: unknown) => new TextEncoder().encode(JSON.stringify(body));

describe("a Messages request", () => {
  const text = (value: string) => ({ type: "text", text: value });
  const use = (id: string) => ({ type: "tool_use", id, name: "read", input: {} });
  const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: [text("ok")] });
  const hi = { role: "user", content: [text("hi")] };
  const check = (messages: unknown[], fields: object = {}) =>
    checkRequest("POST", "/v1/messages", encode({ model: "m", stream: true, max_tokens: 1, messages, ...fields }));

  test("that is good has no problems", () => {
    const answer = {
      role: "assistant",
      content: [{ type: "thinking", thinking: "", signature: "s" }, use("a"), use("b")],
    };
    expect(check([hi, answer, { role: "user", content: [result("a"), result("b"), text("go on")] }])).toEqual([]);
  });

  test.each<[string, unknown[], string[]]>([
    ["without messages", [], ["messages are missing", "the messages do not end with the user"]],
    [
      "that ends with an answer",
      [hi, { role: "assistant", content: [text("x")] }],
      ["the messages do not end with the user"],
    ],
    ["whose roles do not alternate", [hi, hi], ["messages[1] is not the assistant's"]],
    ["with a blank text", [{ role: "user", content: [text(" ")] }], ["messages[0] has a blank text"]],
    ["with an empty turn", [{ role: "user", content: [] }], ["messages[0] has no content"]],
    [
      "with a call without a result",
      [hi, { role: "assistant", content: [use("a"), use("b")] }, { role: "user", content: [result("a")] }],
      ["messages[2] has the results of a, not of a, b"],
    ],
    [
      "with an orphan result",
      [{ role: "user", content: [result("a")] }],
      ["messages[0] has the results of a, not of nothing"],
    ],
    [
      "with a result behind a text",
      [hi, { role: "assistant", content: [use("a")] }, { role: "user", content: [text("x"), result("a")] }],
      ["messages[2] has a result behind other content"],
    ],
    [
      "with two calls of one id",
      [hi, { role: "assistant", content: [use("a"), use("a")] }, { role: "user", content: [result("a"), result("a")] }],
      ["messages[1] has two calls with the id a"],
    ],
    [
      "with thinking that nobody signed",
      [hi, { role: "assistant", content: [{ type: "thinking", thinking: "x" }, text("y")] }, hi],
      ["messages[1] has thinking without a signature"],
    ],
    [
      "with a result of nothing",
      [hi, { role: "assistant", content: [use("a")] }, { role: "user", content: [{ ...result("a"), content: [] }] }],
      ["messages[2] has an empty result"],
    ],
  ])("%s is named", (_name, messages, problems) => {
    expect(check(messages)).toEqual(problems);
  });

  test("without a limit, or with five cache marks, is named", () => {
    const marked = { ...text("x"), cache_control: { type: "ephemeral" } };
    expect(check([{ role: "user", content: Array(5).fill(marked) }], { max_tokens: undefined })).toEqual([
      "max_tokens is missing",
      "5 cache marks",
    ]);
  });
});

test.each<[string, string, string, Uint8Array, string[]]>([
  ["another method", "GET", "/v1/messages", encode({}), ["GET /v1/messages"]],
  ["another path", "POST", "/v1/responses", encode({}), ["POST /v1/responses"]],
  ["no UTF-8", "POST", "/v1/messages", Uint8Array.of(0xff), ["the body is not UTF-8"]],
  ["no object", "POST", "/v1/chat/completions", encode([]), ["the body is not a JSON object"]],
])("%s is named", (_name, method, path, body, problems) => {
  expect(checkRequest(method, path, body)).toEqual(problems);
});
