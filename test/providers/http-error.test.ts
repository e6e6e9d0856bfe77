// What a refusal means: the error class, whether trying again may help, and how long to wait.
import { describe, expect, setSystemTime, test } from "bun:test";
import { readStreamError, toHttpError, toStreamError } from "../../src/providers/http-error.ts";
import type { ErrorCode } from "../../src/util/error.ts";

interface Row {
  readonly name: string;
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

const rateLimited = { code: "rate_limit", retryable: true } as const;
const overflow = { code: "context_overflow", retryable: false } as const;
const quota = { code: "quota", retryable: false } as const;

const rows: readonly Row[] = [
  { name: "429", status: 429, ...rateLimited },
  {
    name: "429 with seconds to wait",
    status: 429,
    headers: { "retry-after": "1" },
    ...rateLimited,
    retryAfterMs: 1000,
  },
  {
    name: "429 with a date to wait for",
    status: 429,
    headers: { "retry-after": "Mon, 30 Nov 2026 12:00:30 GMT" },
    ...rateLimited,
    retryAfterMs: 30_000,
  },
  {
    name: "429 with a date that has passed",
    status: 429,
    headers: { "retry-after": "Mon, 30 Nov 2026 11:00:00 GMT" },
    ...rateLimited,
    retryAfterMs: 0,
  },
  {
    name: "429 with the wait only in its text",
    status: 429,
    body: { error: { message: "please try again after 1 seconds" } },
    ...rateLimited,
    retryAfterMs: 1000,
  },
  {
    name: "429 with milliseconds in its text",
    status: 429,
    body: { error: { message: "Please try again in 350ms." } },
    ...rateLimited,
    retryAfterMs: 350,
  },
  {
    name: "429 with minutes and seconds in its text",
    status: 429,
    body: { error: { message: "Please try again in 1m12.5s." } },
    ...rateLimited,
    retryAfterMs: 72_500,
  },
  {
    name: "429 of a minute's quota, which says how long to wait",
    status: 429,
    body: "You exceeded your current quota, please check your plan and billing details. Please retry in 34.5s.",
    ...rateLimited,
    retryAfterMs: 34_500,
  },
  {
    name: "429 of a day's quota, whatever wait it names",
    status: 429,
    body: "You exceeded your current quota (GenerateRequestsPerDayPerProject). Please retry in 34s.",
    ...quota,
    retryAfterMs: 34_000,
  },
  {
    name: "429 that offers a higher limit on the billing page",
    status: 429,
    body: { error: { message: "Rate limit reached. Visit https://platform.test/account/billing to raise it." } },
    ...rateLimited,
  },
  {
    name: "429 whose header goes before its text",
    status: 429,
    headers: { "retry-after": "2" },
    body: { error: { message: "try again in 9s" } },
    ...rateLimited,
    retryAfterMs: 2000,
  },
  {
    name: "429 for too many tokens per minute is no overflow",
    status: 429,
    body: { error: { message: "too many tokens per minute; prompt is too long for the tier" } },
    ...rateLimited,
  },
  { name: "429 of a billing limit", status: 429, body: { error: { code: "billing_hard_limit_reached" } }, ...quota },
  { name: "429 of a used-up quota", status: 429, body: { error: { code: "insufficient_quota" } }, ...quota },
  { name: "429 that speaks of the current quota", status: 429, body: "You exceeded your current quota", ...quota },
  { name: "402 insufficient balance", status: 402, body: { error: { message: "Insufficient Balance" } }, ...quota },
  { name: "400 credit balance", status: 400, body: { error: { message: "Your credit balance is too low" } }, ...quota },
  { name: "529", status: 529, body: { error: { type: "overloaded_error" } }, code: "overloaded", retryable: true },
  {
    name: "503 with a wait",
    status: 503,
    headers: { "retry-after": "0.5" },
    code: "overloaded",
    retryable: true,
    retryAfterMs: 500,
  },
  { name: "500", status: 500, code: "server", retryable: true },
  { name: "502", status: 502, body: "<html>Bad gateway</html>", code: "server", retryable: true },
  { name: "504", status: 504, code: "server", retryable: true },
  { name: "408", status: 408, code: "server", retryable: true },
  { name: "409", status: 409, code: "server", retryable: true },
  { name: "401", status: 401, code: "auth", retryable: false },
  { name: "403", status: 403, code: "auth", retryable: false },
  {
    name: "400 that means the key",
    status: 400,
    body: [{ error: { code: 400, status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } }],
    code: "auth",
    retryable: false,
  },
  { name: "400", status: 400, body: { error: { message: "bad" } }, code: "bad_request", retryable: false },
  { name: "404", status: 404, code: "bad_request", retryable: false },
  { name: "413", status: 413, ...overflow },
  { name: "413 that speaks of billing", status: 413, body: "see billing", ...overflow },
  { name: "overflow by code", status: 400, body: { error: { code: "context_length_exceeded" } }, ...overflow },
  ...[
    "prompt is too long: 267657 tokens > 200000 maximum",
    "prompt too long; exceeded max context length by 100918 tokens",
    "This model's maximum context length is 262144 tokens. However, you requested more",
    "Invalid request: Your request exceeded model token limit: 262144",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
    "Your input exceeds the context window of this model",
    "the request exceeds the available context size (exceed_context_size_error)",
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens",
    "Please reduce the length of the messages or completion",
    "Prompt contains 140000 tokens, too large for model with 131072 maximum context length",
    "The number of tokens to keep is greater than the context length",
    "Input is too long for requested model",
    "invalid params, context window exceeds limit",
    "prompt token count of 140000 exceeds the limit of 128000",
  ].map((message) => ({ name: `overflow by "${message}"`, status: 400, body: { error: { message } }, ...overflow })),
];

describe("a response that is not 2xx", () => {
  test.each(rows.map((row) => [row.name, row] as const))("%s", (_name, row) => {
    setSystemTime(new Date("2026-11-30T12:00:00Z"));
    const body = typeof row.body === "string" ? row.body : row.body === undefined ? "" : JSON.stringify(row.body);
    const { code, retryable, retryAfterMs } = toHttpError(row.status, new Headers(row.headers), body);
    setSystemTime();
    expect({ code, retryable, retryAfterMs }).toEqual({
      code: row.code,
      retryable: row.retryable,
      retryAfterMs: row.retryAfterMs,
    });
  });

  test("is shown with its status and what it says", () => {
    expect(toHttpError(400, new Headers(), ' {"error":"x"}\n').message).toBe("400: x");
    expect(toHttpError(500, new Headers(), "").message).toBe("500: (empty body)");
  });

  test.each([
    [401, "no", "Check the API key: the provider did not accept it."],
    [400, '[{"error":{"message":"API key not valid."}}]', "Check the API key: the provider did not accept it."],
    [403, "no", "The provider does not let this key do that: check what the account may use."],
    [404, "no", "Check the base URL (most end with /v1) and the model's name; `pi-ts doctor` looks at both."],
    [405, "no", "Check the base URL (most end with /v1) and the model's name; `pi-ts doctor` looks at both."],
    [400, "no", undefined],
  ])("of %d %s comes with what to do next", (status, body, hint) => {
    expect(toHttpError(status, new Headers(), body).hint).toBe(hint);
  });

  test("is shortened when it is long, never in the middle of a character", () => {
    const { message } = toHttpError(500, new Headers(), "🌍".repeat(5000));
    expect(message.length).toBeLessThan(2100);
    expect(message.isWellFormed()).toBe(true);
  });

  test("names where a redirect leads", () => {
    const error = toHttpError(301, new Headers({ location: "https://elsewhere.test/v1" }), "");
    expect(error).toMatchObject({
      code: "bad_request",
      retryable: false,
      message: expect.stringContaining("https://elsewhere.test/v1"),
    });
  });
});

test.each<[number, body: unknown, expected: string | undefined]>([
  [400, "Unsupported parameter: 'max_tokens' is not supported with this model.", "max_tokens"],
  [400, "Unknown parameter: 'messages[2].reasoning_content'.", "messages[2].reasoning_content"],
  [400, "Unknown parameter: 'tools[0].function.strict'.", "tools[0].function.strict"],
  [400, "Unsupported value: 'messages[0].role' does not support 'system' with this model.", "messages[0].role"],
  [400, "Unrecognized request argument supplied: stream_options", "stream_options"],
  [400, "('messages.2' : property 'reasoning_content' is unsupported)", "reasoning_content"],
  [400, `Unknown name "reasoning_content" at 'messages[1]': Cannot find field.`, "reasoning_content"],
  [400, "messages.1.content.0.thinking: Extra inputs are not permitted", "messages.1.content.0.thinking"],
  [400, "thinking.type: adaptive is not supported on this model", "thinking.type"],
  [
    422,
    {
      detail: [
        { type: "extra_forbidden", loc: ["body", "messages", 1, "reasoning"], msg: "Extra inputs are not permitted" },
      ],
    },
    "messages.1.reasoning",
  ],
  [
    422,
    { error: JSON.stringify({ detail: [{ loc: ["body", "stream_options"], msg: "extra fields not permitted" }] }) },
    "stream_options",
  ],
  [422, { detail: [{ type: "missing", loc: ["body", "model"], msg: "Field required" }] }, undefined],
  [400, "max_tokens: 300000 > 64000", undefined],
  [500, "Unknown parameter: 'x'", undefined],
])("of %d %j the refused parameter is %p", (status, body, expected) => {
  const text = JSON.stringify(typeof body === "string" ? { error: { message: body } } : body);
  expect(toHttpError(status, new Headers(), text).parameter).toBe(expected);
});

describe("an error inside a stream", () => {
  const streamRows: readonly [
    name: string,
    status: number | undefined,
    text: string,
    code: ErrorCode,
    retryable: boolean,
  ][] = [
    ["a 429 code", 429, "quota exceeded", "rate_limit", true],
    ["a rate limit by its text", undefined, '{"type":"rate_limit_error"}', "rate_limit", true],
    ["overloaded by its text", undefined, '{"type":"overloaded_error","message":"Overloaded"}', "overloaded", true],
    ["a server's code", 500, "internal", "server", true],
    ["a server's failure by its text", undefined, '{"type":"server_error","code":null}', "server", true],
    ["a used-up quota", undefined, "insufficient_quota", "quota", false],
    ["an overflow", undefined, "maximum context length is 1000 tokens", "context_overflow", false],
    ["anything else", undefined, "upstream broke", "stream_error", false],
    ["a bad request's code", 400, "upstream broke", "stream_error", false],
  ];
  test.each(streamRows)("%s", (_name, status, text, code, retryable) => {
    expect(toStreamError(status, text)).toMatchObject({ code, retryable, message: text });
  });

  test("is shown in its words, behind the status that it carries", () => {
    const hide = (text: string) => text;
    expect(readStreamError({ message: "quota exceeded", code: 429 }, hide).message).toBe("429: quota exceeded");
    expect(readStreamError({ message: "gone", type: "server_error" }, hide).message).toBe("server_error: gone");
  });
});
