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

/** Options by which a program runs another one, or writes where it is told; no `*` stands for them. */
const escapes: Readonly<Record<string, RegExp>> = {
  find: /^-(?:exec|execdir|ok|okdir|delete|fls|fprint.*)$/,
  fd: /^-(?:[a-zA-Z]*[xX].*|-exec.*)$/,
  git: /^(?:-c.*|-C|--config-env.*|--exec-path.*|--upload-pack.*|--receive-pack.*|--ext-diff|-O.*|--open-files-in-pager.*|--exec.*|-x.*|--output.*)$/,
  rg: /^--(?:pre|hostname-bin).*$/,
  sort: /^(?:-o.*|--output.*|--compress-program.*)$/,
  tar: /^(?:-I.*|--to-command.*|--use-compress-program.*|--checkpoint-action.*|--rsh-command.*)$/,
};

/** Whether a line is one simple command in the pattern's words, spelled the same. */
export function allowsCommand({ words, open }: CommandPattern, line: string): boolean {
  const given = parseSimpleCommand(line);
  if (!given || given.length < words.length || (!open && given.length > words.length)) return false;
  if (!words.every((word, i) => word === given[i])) return false;
  const restricted = escapes[programName(words[0] ?? "")];
  return !restricted || !given.slice(words.length).some((word) => restricted.test(word.replace(/["']/g, "")));
}

/** Whether any command that a line could start begins with the pattern's words, under whatever path the program is. */
export function deniesCommand({ words }: CommandPattern, line: string): boolean {
  const bare = words.map((word) => word.replace(/["']/g, ""));
  const program = programName(bare[0] ?? "");
  return commandsIn(line).some(
    ({ words: given, at }) =>
      programName(given[at] ?? "") === program && bare.slice(1).every((word, i) => word === given[at + 1 + i]),
  );
}
