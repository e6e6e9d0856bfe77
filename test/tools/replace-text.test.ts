import { expect, test } from "bun:test";
import { replaceText } from "../../src/tools/replace-text.ts";

/** A small generator of numbers, so that a failure can be seen again. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const words = ["a", "b", "}", "  x = 1;", "é", "😀", "$&", "\r", "", "“q”  "];

test("whatever the text and its line endings, only the found place changes", () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const random = createRandom(seed);
    const pick = <Item>(items: readonly Item[]) => items[random(items.length)] as Item;
    const piece = (count: number) => Array.from({ length: count }, () => pick(words)).join(pick([" ", ""]));
    const breaks = pick([["\n"], ["\r\n"], ["\n", "\r\n"], ["\n", "\r\n", "\r"]]);
    const text = Array.from({ length: random(12) }, () => piece(random(4)) + pick(breaks)).join("") + pick(["", "end"]);
    const view = text.replaceAll("\r\n", "\n");
    const start = random(view.length);
    const wanted = view.slice(start, start + 1 + random(20));
    // A CR that is data before a line break cannot be asked for: the two are read as one line break.
    if (wanted === "" || wanted.includes("\r\n")) continue;
    const replacement = Array.from({ length: 1 + random(3) }, () => piece(random(3))).join("\n");
    const places = view.split(wanted).length - 1;

    const result = replaceText(text, wanted, replacement, true);
    const label = JSON.stringify({ seed, text, wanted, replacement, result });
    expect(result.lines.length, label).toBe(places);
    // Line breaks of any kind are the same here, and so is a CR that came to stand before one.
    const toLf = (value: string) => value.replaceAll(/\r+\n/g, "\n");
    expect(toLf(result.text), label).toBe(toLf(view.split(wanted).join(replacement.replaceAll("\r\n", "\n"))));

    const once = replaceText(text, wanted, replacement, false);
    if (once.lines.length !== 1) {
      expect(once.text, label).toBe(text);
      continue;
    }
    const { before, after } = around(text, view.indexOf(wanted), wanted.length);
    expect(once.text.startsWith(before) && once.text.endsWith(after), label).toBe(true);
    expect(once.text.length, label).toBeGreaterThanOrEqual(before.length + after.length);
  }
});

/** The parts of `text` before and after a place given in its LF view, found by walking. */
function around(text: string, place: number, length: number): { before: string; after: string } {
  const units = text.match(/\r\n|[\s\S]/g) ?? [];
  return { before: units.slice(0, place).join(""), after: units.slice(place + length).join("") };
}
