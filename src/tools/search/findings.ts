// The matches of a search as the model reads them: `path:line: text`, context as `path-line- text`, `--` between separate places.
import { plural } from "../../util/plural.ts";
import { createNotes, type Notes } from "./notes.ts";
import type { Line } from "./scan-lines.ts";

export interface Findings {
  readonly notes: Notes;
  /** How many matches of the next file are worth finding: one more than can be shown, which tells that there are more. */
  wanted(): number;
  /** The lines around the matches that are to be shown with them, by number; none when no context was asked for. */
  around(matches: readonly Line[]): ReadonlySet<number>;
  /** Adds a file's matches and the lines around them, both ascending. */
  add(shownPath: string, matches: readonly Line[], around: readonly Line[]): void;
  /** Nothing more can be added. */
  isFull(): boolean;
  countSearched(files: number): void;
  /** How many files have been searched. */
  searched(): number;
  /** Everything, or `otherwise` when there is no match; the notes behind it. */
  text(otherwise: () => string): string;
}

/** Characters that are left for the notes. */
const notesReserve = 1500;

export function createFindings(limit: number, contextLines: number, maxCharacters: number): Findings {
  const notes = createNotes();
  const lines: string[] = [];
  let room = Math.max(0, maxCharacters - notesReserve);
  let count = 0;
  let searched = 0;
  let ending: string | undefined;

  function push(line: string): boolean {
    if (line.length >= room) {
      ending = `more matches exist; the output is full with ${plural(count, "match")}. Narrow it with path, glob or the pattern`;
      return false;
    }
    room -= line.length + 1;
    lines.push(line);
    return true;
  }

  return {
    notes,
    wanted: () => limit - count + 1,
    around(matches) {
      const numbers = new Set<number>();
      if (contextLines === 0) return numbers;
      for (const { number } of matches.slice(0, limit - count)) {
        for (let near = number - contextLines; near <= number + contextLines; near++) numbers.add(near);
      }
      return numbers;
    },
    add(shownPath, matches, around) {
      const shown = matches.slice(0, limit - count);
      const matching = new Set(shown.map(({ number }) => number));
      const all = [...shown, ...around.filter(({ number }) => !matching.has(number))];
      let previous = -1;
      for (const { number, text } of all.sort((a, b) => a.number - b.number)) {
        const isMatch = matching.has(number);
        const isApart = contextLines > 0 && lines.length > 0 && (previous < 0 || number > previous + 1);
        if (isApart && !push("--")) return;
        if (!push(isMatch ? `${shownPath}:${number}: ${text}` : `${shownPath}-${number}- ${text}`)) return;
        if (isMatch) count++;
        previous = number;
      }
      if (matches.length > shown.length) {
        ending = `more matches exist; these are the first ${count}. Narrow it with path, glob or the pattern, or raise limit`;
      }
    },
    isFull: () => ending !== undefined,
    countSearched(files) {
      searched += files;
    },
    searched: () => searched,
    text(otherwise) {
      if (ending !== undefined) notes.add(ending);
      return [...(lines.length > 0 ? lines : [otherwise()]), ...notes.lines()].join("\n");
    },
  };
}
