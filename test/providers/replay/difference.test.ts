// Where two requests first differ, in words.
import { expect, test } from "bun:test";
import { findDifference } from "../../../src/providers/replay/difference.ts";

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
  expect(findDifference(recorded, now)).toBe(expected);
});

test("of long texts the part around the difference is shown", () => {
  const same = "same ".repeat(1000);
  const text = findDifference({ a: `${same}recorded` }, { a: `${same}now` });
  expect(text).toMatch(/^a: recorded …".{0,45}recorded", now …".{0,45}now"$/);
});

test.each<[string, unknown, unknown, boolean]>([
  ["the same", { a: ["x", 1, null] }, { a: ["x", 1, null] }, true],
  ["a hidden key for any text", "use [key hidden] here", "use abc here", true],
  ["a hidden key for nothing", "use [key hidden]", "use ", true],
  ["hidden on the other side", "use abc here", "use [key hidden] here", true],
  ["several of them", "[key hidden] and [key hidden].", "a and b and c.", true],
  ["another text around it", "use [key hidden] here", "use abc there", false],
  ["a text that is too short for both ends", "aa[key hidden]aa", "aaa", false],
  ["a hidden key deep inside", { m: [{ c: "k=[key hidden]" }] }, { m: [{ c: "k=1" }] }, true],
  ["another order", { a: 1, b: 1 }, { b: 1, a: 1 }, false],
  ["a list for an object", ["a"], { 0: "a" }, false],
])("%s", (_name, recorded, now, isSame) => {
  expect(findDifference(recorded, now) === undefined).toBe(isSame);
});
