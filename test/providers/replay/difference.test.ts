// Where two requests first differ, in words.
import { expect, test } from "bun:test";
import { describeDifference } from "../../../src/providers/replay/difference.ts";

test.each<[string, unknown, unknown, string]>([
  ["a value", { a: 1, b: 2 }, { a: 1, b: 3 }, "b: recorded 2, now 3"],
  ["a text", { a: "x" }, { a: "y" }, 'a: recorded "x", now "y"'],
  ["deep inside", { m: [{ c: "x" }, { c: "y" }] }, { m: [{ c: "x" }, { c: "z" }] }, 'm[1].c: recorded "y", now "z"'],
  ["something new", { m: ["x"] }, { m: ["x", "y"] }, 'm[1]: recorded nothing, now "y"'],
  ["something gone", { a: 1, b: { c: 1 } }, { a: 1 }, 'b: recorded {"c":1}, now nothing'],
  ["another kind", { a: [1] }, { a: "1" }, 'a: recorded [1], now "1"'],
  ["the first of several", { a: 1, b: 1 }, { a: 2, b: 2 }, "a: recorded 1, now 2"],
  [
    "the order alone",
    { a: 1, b: 1 },
    { b: 1, a: 1 },
    'the order of its fields: recorded {"a":1,"b":1}, now {"b":1,"a":1}',
  ],
])("%s", (_name, recorded, now, expected) => {
  expect(describeDifference(recorded, now)).toBe(expected);
});

test("of long texts the part around the difference is shown", () => {
  const same = "same ".repeat(1000);
  const text = describeDifference({ a: `${same}recorded` }, { a: `${same}now` });
  expect(text).toMatch(/^a: recorded …".{0,45}recorded", now …".{0,45}now"$/);
});
