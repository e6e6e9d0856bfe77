import { expect, test } from "bun:test";
import { replaceText } from "../../src/tools/replace-text.ts";
import { createRandom, randomEdits, randomText, randomWords } from "../helpers/random-text.ts";

const toLf = (text: string) => text.replaceAll("\r\n", "\n");
/** Line breaks of any kind are the same here, and so is a CR that came to stand before one. */
const anyBreak = (text: string) => text.replaceAll(/\r+\n/g, "\n");

test("whatever the text and its line endings, only the found place changes", () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const random = createRandom(seed);
    const text = randomText(random);
    const view = toLf(text);
    const start = random(view.length);
    const wanted = view.slice(start, start + 1 + random(20));
    // A CR that is data before a line break cannot be asked for: the two are read as one line break.
    if (wanted === "" || wanted.includes("\r\n")) continue;
    const replacement = Array.from({ length: 1 + random(3) }, () => randomWords(random, 3)).join("\n");
    const places = view.split(wanted).length - 1;

    const result = replaceText(text, [{ wanted, replacement, all: true }]);
    const label = JSON.stringify({ seed, text, wanted, replacement, result });
    expect(result.lines[0]?.length, label).toBe(places);
    expect(anyBreak(result.text), label).toBe(anyBreak(view.split(wanted).join(toLf(replacement))));

    const once = replaceText(text, [{ wanted, replacement, all: false }]);
    if (once.lines[0]?.length !== 1) {
      expect(once.text, label).toBe(text);
      continue;
    }
    const { before, after } = around(text, view.indexOf(wanted), wanted.length);
    expect(once.text.startsWith(before) && once.text.endsWith(after), label).toBe(true);
    expect(once.text.length, label).toBeGreaterThanOrEqual(before.length + after.length);
  }
});

test("whatever the edits, in whatever order, all that is between their places stays", () => {
  let made = 0;
  for (let seed = 1; seed <= 3000; seed++) {
    const random = createRandom(seed);
    const given = randomEdits(random);
    if (!given) continue;
    const { text, edits, expected } = given;
    const replacements = edits.map((edit) => ({ ...edit, all: false }));
    const result = replaceText(text, random(2) === 0 ? replacements : replacements.toReversed());
    const label = JSON.stringify({ seed, text, edits, result });
    expect(result.overlap, label).toBeUndefined();
    expect(result.text, label).toBe(expected);
    made++;
  }
  expect(made).toBeGreaterThan(300);
});

const overlapping: [string, string, [string, string][]][] = [
  [
    "the same place",
    "abc",
    [
      ["b", "x"],
      ["b", "y"],
    ],
  ],
  [
    "one inside the other",
    "abcd",
    [
      ["bc", "x"],
      ["abcd", "y"],
    ],
  ],
  [
    "the end of one and the beginning of the other",
    "abcd",
    [
      ["cd", "x"],
      ["bc", "y"],
    ],
  ],
  [
    "a line that neither changes",
    "a\r\nb\r\nc\r\n",
    [
      ["a\nb\n", "A\nb\n"],
      ["b\nc\n", "b\nC\n"],
    ],
  ],
];

test.each(overlapping)("edits that overlap change nothing: %s", (_, text, edits) => {
  const replacements = edits.map(([wanted, replacement]) => ({ wanted, replacement, all: false }));
  const result = replaceText(text, replacements);
  expect([result.text, result.overlap]).toEqual([text, [0, 1]]);
});

/** The parts of `text` before and after a place given in its LF view, found by walking. */
function around(text: string, place: number, length: number): { before: string; after: string } {
  const units = text.match(/\r\n|[\s\S]/g) ?? [];
  return { before: units.slice(0, place).join(""), after: units.slice(place + length).join("") };
}
