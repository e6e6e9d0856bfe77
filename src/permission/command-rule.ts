// The pattern of a bash rule: the words of one simple command, at its end perhaps a `*` for any further words.
import { commandsIn, programName } from "./commands-in.ts";
import { parseSimpleCommand } from "./simple-command.ts";

export interface CommandPattern {
  /** As spelled, quotes kept. */
  readonly words: readonly string[];
  /** Whether further words may follow. */
  readonly open: boolean;
}

/** Undefined when the text is no such pattern. */
export function parseCommandPattern(text: string): CommandPattern | undefined {
  const open = /\s\*\s*$/.test(text);
  const words = parseSimpleCommand(open ? text.replace(/\s\*\s*$/, "") : text);
  return words && { words, open };
}

/** The words by which `find` starts programs, deletes and writes: the list is complete, so `*` does not stand for them. No other program has such a list here. */
const findActions = /^-(?:exec|execdir|ok|okdir|delete|fls|fprint|fprint0|fprintf)$/;

/** Whether a line is one simple command in the pattern's words, spelled the same. */
export function allowsCommand({ words, open }: CommandPattern, line: string): boolean {
  const given = parseSimpleCommand(line);
  if (!given || given.length < words.length || (!open && given.length > words.length)) return false;
  if (!words.every((word, i) => word === given[i])) return false;
  const further = given.slice(words.length).map((word) => word.replace(/["']/g, ""));
  return programName(words[0] ?? "") !== "find" || !further.some((word) => findActions.test(word));
}

/**
 * Whether any command that a line could start begins with the pattern's words, under whatever path the program is. Options may stand between
 * the words, each perhaps with a value of its own.
 */
export function deniesCommand({ words }: CommandPattern, line: string): boolean {
  const [first = "", ...rest] = words.map((word) => word.replace(/["']/g, ""));
  const program = programName(first);
  return commandsIn(line).some(
    ({ words: given, at }) => programName(given[at] ?? "") === program && followsIn(given, at + 1, rest),
  );
}

/** Whether the `wanted` words are in `given` from `at` on with nothing between them but options and their values. */
function followsIn(given: readonly string[], at: number, wanted: readonly string[]): boolean {
  /** How many of the wanted words each possible reading has met; whether the last word was an option is the same in all. */
  let met = new Set([0]);
  let afterOption = false;
  for (let i = at; met.size > 0; i++) {
    if (met.has(wanted.length)) return true;
    const word = given[i];
    if (word === undefined) return false;
    const isOption = word.startsWith("-");
    const next = new Set([...met].filter((count) => wanted[count] === word).map((count) => count + 1));
    // What was passed over stays as it is.
    if (isOption || afterOption) for (const count of met) next.add(count);
    met = next;
    afterOption = isOption;
  }
  return false;
}
