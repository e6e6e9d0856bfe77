import { expect, test } from "bun:test";
import { createMatcher } from "../../../src/tools/search/matcher.ts";
import { parsePattern } from "../../../src/tools/search/pattern.ts";
import { requiredTexts } from "../../../src/tools/search/required-texts.ts";

/** Where the first match in the line ends. */
function matchEnd(source: string, line: string, ignoreCase = false): number | undefined {
  const matcher = createMatcher(parsePattern(source, { ignoreCase, literal: false }));
  const reached = matcher.advance(matcher.begin(), line, 0, line.length);
  if (typeof reached === "number") return reached;
  return matcher.matchesAtEnd(reached) ? line.length : undefined;
}

test.each([
  ["b+", "abbb", 2],
  ["a.*c", "xabcbc", 4],
  ["", "abc", 0],
  ["c$", "abc", 3],
  ["\\bc", "ab c", 4],
  ["x", "abc", undefined],
])("the match of %s in %s ends at %p", (source, line, end) => {
  expect(matchEnd(source, line)).toBe(end);
});

/** A generator with a fixed seed, so that a failure can be seen again. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomPattern(random: (below: number) => number, depth: number): string {
  const part = () => randomPattern(random, depth - 1);
  const atoms = ["a", "b", "é", "😀", ".", "[ab]", "[^b]", "[b-é]", "\\.", "^", "$", "(?:)"];
  if (depth === 0) return atoms[random(atoms.length)] ?? "";
  switch (random(5)) {
    case 0:
      return `(?:${part()}|${part()})`;
    case 1:
      return `(?:${part()})${["*", "+", "?", "{2}", "{1,3}", "{0,2}?", "{2,}"][random(7)]}`;
    default:
      return part() + part();
  }
}

test("random patterns match what JavaScript's own engine matches, and need the texts they are said to need", () => {
  const random = createRandom(7);
  const alphabet = ["a", "b", "é", "😀", ".", "A", "c"];
  const wrong: object[] = [];
  for (let round = 0; round < 2000; round++) {
    const source = randomPattern(random, 1 + random(4));
    const ignoreCase = random(3) === 0;
    const native = new RegExp(source, ignoreCase ? "iu" : "u");
    const required = requiredTexts(parsePattern(source, { ignoreCase, literal: false }));
    const fold = (text: string) => (required?.ignoreCase ? text.toLowerCase() : text);
    for (let i = 0; i < 4; i++) {
      const line = Array.from({ length: random(9) }, () => alphabet[random(alphabet.length)]).join("");
      const matches = native.test(line);
      if ((matchEnd(source, line, ignoreCase) !== undefined) !== matches)
        wrong.push({ source, ignoreCase, line, matches });
      const holds = required?.texts.some((text) => fold(line).includes(fold(text))) ?? true;
      if (matches && !holds) wrong.push({ source, ignoreCase, line, required });
    }
  }
  expect(wrong).toEqual([]);
});

test.each([
  ["function \\w+\\(", ["function "]],
  ["(?:foo|barn)\\d", ["barn", "foo"]],
  ["a\\d+bcd?", ["bc"]],
  ["(?:abc)+x?", ["abc"]],
  ["(?:abc)*x?", undefined],
  ["abc|\\d", undefined],
  ["x", undefined],
  ["ab\ufffdc", ["ab"]],
])("a line that matches %s holds one of %p", (source, texts) => {
  expect(requiredTexts(parsePattern(source, { ignoreCase: false, literal: false }))?.texts).toEqual(texts);
});

test("time grows with the line, not with the ways to match it", () => {
  const line = "a".repeat(20_000);
  const started = performance.now();
  for (const source of ["(a+)+$b", "(a|aa)+b", "(.*)*x", ".*.*.*.*x=", "(a?){100}b"]) {
    expect(matchEnd(source, line)).toBeUndefined();
  }
  expect(performance.now() - started).toBeLessThan(2000);
});

test("an automaton that grows without bound is forgotten now and then", () => {
  const random = createRandom(3);
  const line = Array.from({ length: 50_000 }, () => "ab"[random(2)]).join("");
  expect(matchEnd("a[ab]{40}c", line)).toBeUndefined();
  expect(matchEnd("a[ab]{40}c", `${line}a${"b".repeat(40)}c`)).toBe(line.length + 42);
});
