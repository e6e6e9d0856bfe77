// What is hidden in text that people and models see, and what is not.
import { expect, test } from "bun:test";
import { redact } from "../../src/util/redact.ts";

test.each([
  ["a key by its shape", "key sk-abcdefghijklmnop is wrong", "key [key hidden] is wrong"],
  ["a bearer token", "Bearer abcdefgh12345678", "[key hidden]"],
  ["credentials in a URL", "at https://user:pass@host/path", "at https://[hidden]@host/path"],
  ["a password with an @", "at http://user:p@ss@host:1/", "at http://[hidden]@host:1/"],
  [
    "an @ behind the host stays",
    "at https://host/a@b and https://host?x=a@b",
    "at https://host/a@b and https://host?x=a@b",
  ],
  ["addresses side by side", '"https://host","mail":"a@b.test"', '"https://host","mail":"a@b.test"'],
  ["a header line", "authorization: Bearer short\nx: y", "authorization: [key hidden]\nx: y"],
  ["for a proxy", "Proxy-Authorization: Basic dXNlcjpwdw==", "Proxy-Authorization: [key hidden]"],
  ["without a scheme", "X-API-Key: abc, accept: */*", "X-API-Key: [key hidden], accept: */*"],
  ["as JSON", '{"x-api-key":"abc","a":1}', '{"x-api-key":"[key hidden]","a":1}'],
  ["as JSON in JSON", '{\\"api-key\\":\\"abc\\"}', '{\\"api-key\\":\\"[key hidden]\\"}'],
  ["as an assignment", "x-goog-api-key=abc;", "x-goog-api-key=[key hidden];"],
  ["prose about a header stays", "x-api-key header is required", "x-api-key header is required"],
])("%s", (_, text, expected) => {
  expect(redact(text)).toBe(expected);
});

test("given secrets, also where one holds another, and never twice", () => {
  const secrets = ["hunter22", "Bearer hunter22", undefined, "", "abc"];
  expect(redact("authorization: Bearer hunter22, hunter22! abc", secrets)).toBe(
    "authorization: [key hidden], [key hidden]! abc",
  );
  expect(redact("authorization: Basic hunter22", secrets)).toBe("authorization: Basic [key hidden]");
});
