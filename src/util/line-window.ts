// A window on a line too long to be shown whole, cut between characters. Offsets are UTF-16 units from 0.

export interface LineWindow {
  readonly text: string;
  /** `text` is the line from here … */
  readonly from: number;
  /** … to here, exclusive. */
  readonly to: number;
}

/** At most `limit` units of `line` from `from` on; a character that either end would split belongs to the window whose start it holds. */
export function windowFrom(line: string, from: number, limit: number): LineWindow {
  const start = boundary(line, from);
  const end = boundary(line, Math.min(line.length, start + limit));
  // A pair of surrogates that alone is over the limit is shown all the same, so that going on always gets further.
  const to = end > start ? end : Math.min(line.length, start + 2);
  return { text: line.slice(start, to), from: start, to };
}

/** `at`, or one less where that is in the middle of a surrogate pair. */
function boundary(line: string, at: number): number {
  const before = line.charCodeAt(at - 1);
  const after = line.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff ? at - 1 : at;
}
