// What is shown of a provider's failure: its words, not the JSON or the page around them.
import { expect, test } from "bun:test";
import { toWords } from "../../src/providers/error-words.ts";

test.each<[name: string, body: unknown, words: string]>([
  [
    "OpenAI",
    { error: { message: "Incorrect API key", type: "invalid_request_error", param: null, code: "invalid_api_key" } },
    "invalid_api_key: Incorrect API key",
  ],
  [
    "Anthropic",
    { type: "error", error: { type: "not_found_error", message: "model: claude-x" }, request_id: "req_1" },
    'not_found_error: model: claude-x {"request_id":"req_1"}',
  ],
  [
    "Gemini",
    [{ error: { code: 400, message: "no", status: "INVALID_ARGUMENT", details: [{ reason: "R" }] } }],
    'INVALID_ARGUMENT: no {"details":[{"reason":"R"}]}',
  ],
  [
    "OpenRouter",
    { error: { message: "Provider returned error", code: 400, metadata: { raw: "upstream: bad tool" } } },
    'Provider returned error {"metadata":{"raw":"upstream: bad tool"}}',
  ],
  ["Azure", { error: { code: "401", message: "Access denied" } }, "Access denied"],
  ["Ollama", { error: "model 'x' not found" }, "model 'x' not found"],
  ["vLLM", { object: "error", message: "no", type: "BadRequestError", code: 400 }, "BadRequestError: no"],
  ["FastAPI", { detail: "Not Found" }, "Not Found"],
  ["Fastify", { statusCode: 404, error: "Not Found", message: "no such route" }, "Not Found: no such route"],
  [
    "a proxy's page",
    "<html>\r\n<head><title>502 Bad\n Gateway</title></head>",
    'a page with the title "502 Bad Gateway"',
  ],
  ["plain text", "upstream gone", "upstream gone"],
  ["a validator's list", { detail: [{ loc: ["body"], msg: "no" }] }, '{"detail":[{"loc":["body"],"msg":"no"}]}'],
  ["an empty message", { error: { message: " ", code: 5 } }, '{"error":{"message":" ","code":5}}'],
  ["a message that is none", { message: null }, '{"message":null}'],
  ["JSON that is no object", "null", "null"],
])("of %s", (_name, body, words) => {
  expect(toWords(typeof body === "string" ? body : JSON.stringify(body))).toBe(words);
});

test("what else an error holds is shortened", () => {
  const words = toWords(JSON.stringify({ error: { message: "no", details: "x".repeat(5000) } }));
  expect(words).toStartWith('no {"details":"xxx');
  expect(words.length).toBeLessThan(400);
});
