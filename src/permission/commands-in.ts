// Every command that a line of shell could start, read loosely: for rules that forbid, where a wrong guess may only ever forbid too much.

/** A place in a list of words, quotes and escapes taken away, where a command may begin. */
export interface CommandStart {
  readonly words: readonly string[];
  readonly at: number;
}

/** Programs and reserved words that go on to run what follows them, at some place among their words. */
const wrappers = new Set(
  (
    "env command builtin exec eval nohup sudo doas su runuser pkexec xargs parallel time timeout nice ionice chrt taskset setsid stdbuf " +
    "unshare nsenter chroot flock watch script strace ltrace busybox toybox find fd ssh sh bash dash zsh ksh fish coproc trap source . " +
    "{ } ! if then elif else fi do done while until for in select case esac function [[ bwrap systemd-run caffeinate start"
  ).split(" "),
);
const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;
const maxDepth = 6;

export function commandsIn(line: string, depth = 0): CommandStart[] {
  // What stands for a blank unless somebody set it otherwise.
  const { commands, nested } = split(line.replace(/\$IFS\b|\$\{IFS[^}]*\}/g, " "));
  const starts = commands.flatMap((words) => startsOf(words, depth));
  if (depth >= maxDepth) return starts;
  return [...starts, ...nested.flatMap((text) => commandsIn(text, depth + 1))];
}

/** The beginning of a command, and where it runs others, every later word and every text among its words. */
function startsOf(words: readonly string[], depth: number): CommandStart[] {
  let first = 0;
  while (first < words.length && assignment.test(words[first] ?? "")) first++;
  if (first === words.length) return [];
  const starts = [{ words, at: first }];
  if (!wrappers.has(programName(words[first] ?? ""))) return starts;
  for (let at = first + 1; at < words.length; at++) {
    starts.push({ words, at });
    const text = words[at] ?? "";
    if (depth < maxDepth && /[\s;&|<>()`=]/.test(text))
      starts.push(...commandsIn(text.replace(assignment, " "), depth + 1));
  }
  return starts;
}

/** The last component of a program's path. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

interface Pieces {
  readonly commands: readonly string[][];
  /** Texts that are lines of shell themselves, or may be: substitutions inside double quotes, and what is redirected from. */
  readonly nested: readonly string[];
}

function split(line: string): Pieces {
  const commands: string[][] = [];
  const nested: string[] = [];
  let words: string[] = [];
  let word: string | undefined;
  let redirected = false;
  let i = 0;

  function endWord(): void {
    if (word === undefined) return;
    if (redirected) nested.push(word);
    else words.push(word);
    redirected = false;
    word = undefined;
  }

  function endCommand(): void {
    endWord();
    redirected = false;
    if (words.length > 0) commands.push(words);
    words = [];
  }

  /** Takes what is quoted, from behind the opening quote. */
  function takeQuoted(quote: string, escapes: boolean): string {
    let text = "";
    for (; i < line.length && line[i] !== quote; i++) {
      if (escapes && line[i] === "\\" && i + 1 < line.length) text += line[i++];
      text += line[i];
    }
    i++;
    return text;
  }

  while (i < line.length) {
    const character = line[i++] ?? "";
    const next = line[i] ?? "";
    if (character === "\\") {
      i++;
      if (next !== "\n") word = (word ?? "") + next;
    } else if (character === "'") word = (word ?? "") + takeQuoted("'", false);
    else if (character === "$" && next === "'") {
      i++;
      word = (word ?? "") + decodeAnsiC(takeQuoted("'", true));
    } else if (character === '"' || (character === "$" && next === '"')) {
      if (character === "$") i++;
      const text = takeQuoted('"', true);
      nested.push(...text.split(/\$\(|`|\$\{/).slice(1));
      word = (word ?? "") + text.replace(/\\\n/g, "").replace(/\\([$`"\\])/g, "$1");
    } else if (";&|\n()`".includes(character)) endCommand();
    else if (character === "<" || character === ">") {
      if (word !== undefined && /^\d+$|^\{\w+\}$/.test(word)) word = undefined;
      endWord();
      while ("<>&|-".includes(line[i] || " ")) i++;
      redirected = true;
    } else if (character === " " || character === "\t" || character === "\r") endWord();
    else word = (word ?? "") + character;
  }
  endCommand();
  return { commands, nested };
}

const ansiC: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", e: "\x1b", E: "\x1b", a: "\x07" };

/** The text of `$'…'` (bash, "ANSI-C Quoting"). */
function decodeAnsiC(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,6})|([0-7]{1,3})|(.))/gs,
    (_, hex, short, long, octal, plain) => {
      if (plain !== undefined) return ansiC[plain] ?? plain;
      const code = octal === undefined ? Number.parseInt(hex ?? short ?? long, 16) : Number.parseInt(octal, 8) & 0xff;
      return code <= 0x10ffff ? String.fromCodePoint(code) : "";
    },
  );
}
