// Small things done to text: names that were meant, cuts that break no character, and what a terminal is not sent.
import { describe, expect, test } from "bun:test";
import { closest, editDistance } from "../../src/util/closest.ts";
import { createJsonScan, isCutJson } from "../../src/util/json-scan.ts";
import { createVisible, visible, visibleJson, visibleLine } from "../../src/util/sanitize.ts";
import { headOf, oneLine, truncate } from "../../src/util/truncate.ts";

describe("the closest name", () => {
  test.each<[string, string[], string | undefined]>([
    ["modle", ["model", "provider"], "model"],
    ["prov", ["print", "provider"], "provider"],
    ["MODEL", ["model"], "model"],
    ["modl", ["mode", "model"], "mode"],
    ["x", ["yolo", "quiet"], undefined],
    ["zzzzzz", ["model", "quiet"], undefined],
    ["", ["model"], undefined],
    ["model", [], undefined],
  ])("to '%s' among %j", (word, candidates, expected) => {
    expect(closest(word, candidates)).toBe(expected as never);
  });

  test.each([
    ["", "", 0],
    ["", "abc", 3],
    ["kitten", "sitting", 3],
    ["ab", "ba", 2],
    ["same", "same", 0],
  ])("'%s' and '%s' are %i apart", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
    expect(editDistance(b, a)).toBe(distance);
  });
});

describe("cutting", () => {
  test.each([
    ["short", 10, "short"],
    ["exactly", 7, "exactly"],
    ["longer", 3, "lon"],
    ["a🌍b", 2, "a"],
    ["a🌍b", 3, "a🌍"],
    ["🌍", 1, ""],
    ["x", 0, ""],
  ])("the head of '%s' to %i", (text, limit, expected) => {
    expect(headOf(text, limit)).toBe(expected);
  });

  test.each([
    ["short", 10, "short"],
    ["abcdef", 4, "abcd\n... <truncated, 2 more chars>"],
    ["a🌍b", 2, "a\n... <truncated, 3 more chars>"],
  ])("'%s' to %i, with what was left out", (text, limit, expected) => {
    expect(truncate(text, limit)).toBe(expected);
  });

  test.each([
    ["  a\n\tb  c ", 10, "a b c"],
    ["abcdef", 4, "abc…"],
    ["ab🌍cd", 4, "ab…"],
    ["\n", 4, ""],
  ])("%j to one line of %i", (text, limit, expected) => {
    expect(oneLine(text, limit)).toBe(expected);
  });
});

describe("what a terminal sees", () => {
  test.each([
    ["plain text 北🌍\n\tindented\n", "plain text 北🌍\n\tindented\n"],
    ["\u001b[2K\u0007", "␛[2K␇"],
    ["a\r\nb\rc", "a\nb␍c"],
    ["\u007f\u009b31m", "␡<U+009B>31m"],
    ["\u202etxt.exe\u2066", "<U+202E>txt.exe<U+2066>"],
    ["\u200e\u061c", "<U+200E><U+061C>"],
    ["\0", "␀"],
    ["a\u3164b\u115f\u1160\uffa0", "a<U+3164>b<U+115F><U+1160><U+FFA0>"],
    ["a\u034fb\u180b\u00ad\u2060", "a<U+034F>b<U+180B><U+00AD><U+2060>"],
    ["a\u{e0100}\u{e01ef}\u{e0041}", "a<U+E0100><U+E01EF><U+E0041>"],
    ["a\u200bb\u200cc\u200dd\ufe0f", "a<U+200B>b<U+200C>c<U+200D>d<U+FE0F>"],
    ["👨‍👩‍👧 ❤️ 1️⃣ 👩🏽‍💻 ☺︎", "👨‍👩‍👧 ❤️ 1️⃣ 👩🏽‍💻 ☺︎"],
    ["👨\u200d\u200dx ❤\ufe0f\ufe0f \u200d👨", "👨<U+200D><U+200D>x ❤\ufe0f<U+FE0F> <U+200D>👨"],
    ["می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"],
    ["क\u200c\u200dष", "क<U+200C><U+200D>ष"],
  ])("of %j", (text, expected) => {
    expect(visible(text)).toBe(expected);
    for (let at = 0; at <= text.length; at++) {
      const visiblePiece = createVisible();
      const pieces = [text.slice(0, at), text.slice(at)].map(visiblePiece);
      expect({ at, shown: pieces.join("") }).toEqual({ at, shown: expected });
    }
    expect(text.split("").map(createVisible()).join("")).toBe(expected);
  });

  test("in one line", () => {
    expect(visibleLine("a\r\nb\tc\u001b")).toBe("a⏎b c␛");
  });

  test("visibleJson gives the same value in JSON's own escapes", () => {
    const json = '{"a":\r\n"\u009b\u007f\u{e0001}é",\r"b":1}';
    expect(visibleJson(json)).toBe('{"a":\n"\\u009b\\u007f\\udb40\\udc01é",\n"b":1}');
    expect(JSON.parse(visibleJson(json))).toEqual(JSON.parse(json));
  });
});

describe("JSON that arrives in pieces", () => {
  test.each<[string, string[], next: number[], complete: boolean]>([
    ["one object", ['{"a":', "1}"], [5, 2], true],
    ["half an object", ['{"a":{"b":1}'], [12], false],
    ["a second object in the same piece", ['{"a":1}{"b":2}'], [7], true],
    ["a second object in the next piece", ['{"a":1}', '{"b"'], [7, 0], true],
    ["white space behind it", ['{"a":1}', " \n"], [7, 2], true],
    ["brackets in a string", ['{"a":"}{\\"}', '{"}'], [11, 3], true],
    ["a string that breaks behind its backslash", ['{"a":"\\', '"}"}'], [7, 4], true],
    ["an array", ["[{},{}]"], [7], true],
    ["nothing", [""], [0], false],
  ])("%s", (_name, pieces, next, complete) => {
    const scan = createJsonScan();
    expect({ next: pieces.map((piece) => scan.feed(piece)), complete: scan.complete() }).toEqual({ next, complete });
  });

  test.each([
    ['{"a":1', true],
    ['  [1, {"a"', true],
    ['{"a":"}', true],
    ['{"a":1}', false],
    ["[DONE]", false],
    ["text {", false],
    ["", false],
  ])("%j is cut: %p", (text, cut) => {
    expect(isCutJson(text)).toBe(cut);
  });
});
