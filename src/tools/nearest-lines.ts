// Where a text that was not found may have been meant: the lines most like its first one. Pure, and bounded on large files.
import { headOf } from "../util/truncate.ts";

export interface NearLine {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
}

const maxLines = 3;
const minLikeness = 0.5;
/** As much of a line as is compared and shown. */
const maxLineCharacters = 200;
/** As much of the text as is looked at. */
const maxCharacters = 4_000_000;

/** At most three lines of `text`, the most similar first. */
export function nearestLines(text: string, wanted: string): NearLine[] {
  const wantedLine = wanted.split("\n").find((line) => line.trim() !== "");
  if (wantedLine === undefined) return [];
  const likenessTo = createLikeness(headOf(wantedLine.trim(), maxLineCharacters));
  return headOf(text, maxCharacters)
    .split("\n")
    .map((line, index) => {
      const shown = headOf(line.replace(/\r$/, ""), maxLineCharacters);
      return { number: index + 1, text: shown, likeness: likenessTo(shown.trim()) };
    })
    .filter(({ likeness }) => likeness >= minLikeness)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, maxLines)
    .map(({ number, text }) => ({ number, text }));
}

/** Likeness from 0 to 1 by shared pairs of characters (the Sørensen–Dice coefficient). */
function createLikeness(wanted: string): (line: string) => number {
  const pairs = countPairs(wanted);
  return (line) => {
    if (line === wanted) return 1;
    // What differs too much in length cannot come out near enough.
    if (Math.min(line.length, wanted.length) * 3 < Math.max(line.length, wanted.length) - 1) return 0;
    const left = new Map(pairs);
    let shared = 0;
    for (let at = 0; at + 1 < line.length; at++) {
      const pair = line.slice(at, at + 2);
      const count = left.get(pair) ?? 0;
      if (count === 0) continue;
      left.set(pair, count - 1);
      shared++;
    }
    const total = line.length + wanted.length - 2;
    return total <= 0 ? 0 : (2 * shared) / total;
  };
}

function countPairs(text: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < text.length; at++) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}
