// Random text files for property tests: every kind of line end, byte order marks, odd characters; from a seed, so that a failure can be seen again.

export type Random = (below: number) => number;

export function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random(items.length)] as Item;
}

const words = ["a", "b", "}", "  x = 1;", "é", "😀", "$&", "\r", "", "“q”  "];

/** Fewer than `most` words in a row, none with a LF; a CR may stand among them. */
export function randomWords(random: Random, most: number): string {
  return Array.from({ length: random(most) }, () => pick(random, words)).join(pick(random, [" ", ""]));
}

/** A text with LF, CRLF, CR or any mix of these, with or without a byte order mark and a last line break. */
export function randomText(random: Random): string {
  const breaks = pick(random, [["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n", "\r\n", "\r"]]);
  const lines = Array.from({ length: random(12) }, () => randomWords(random, 4) + pick(random, breaks));
  return pick(random, ["", "\ufeff"]) + lines.join("") + pick(random, ["", "end"]);
}

export interface EditCase {
  readonly text: string;
  readonly edits: readonly { readonly wanted: string; readonly replacement: string }[];
  /** The bytes outside the places of the edits and the replacements, in order. */
  readonly expected: string;
}

/** A text and edits of it that do not overlap; undefined where a place cannot be asked for, or not for itself alone. */
export function randomEdits(random: Random): EditCase | undefined {
  const text = randomText(random);
  // The text as an editor of lines sees it: a CRLF is one unit.
  const units = text.match(/\r\n|[\s\S]/gu) ?? [];
  const cuts = Array.from({ length: 2 * (1 + random(4)) }, () => random(units.length + 1)).sort((a, b) => a - b);
  const edits: { wanted: string; replacement: string }[] = [];
  let expected = "";
  let done = 0;
  for (let i = 0; i < cuts.length; i += 2) {
    const [from = 0, to = 0] = cuts.slice(i, i + 2);
    const wanted = units
      .slice(from, to)
      .map((unit) => (unit === "\r\n" ? "\n" : unit))
      .join("");
    const replacement = `<${i}>${randomWords(random, 4).replaceAll("\r", "")}`;
    edits.push({ wanted, replacement });
    expected += units.slice(done, from).join("") + replacement;
    done = to;
  }
  expected += units.slice(done).join("");
  const view = text.replaceAll("\r\n", "\n");
  // A CR that is data before a line break cannot be asked for: the two are read as one line break.
  const canBeAsked = ({ wanted }: { wanted: string }) =>
    wanted !== "" && !wanted.includes("\r\n") && view.indexOf(wanted) === view.lastIndexOf(wanted);
  return edits.every(canBeAsked) ? { text, edits, expected } : undefined;
}
