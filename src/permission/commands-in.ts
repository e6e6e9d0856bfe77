// Every command that a line of shell could start, read loosely: for rules that forbid, where a wrong guess may only ever forbid too much.

/** A place in a list of words, quotes and escapes taken away, where a command may begin. */
export interface CommandStart {
  readonly words: readonly string[];
  readonly at: number;
}

/** Programs and reserved words that go on to run what follows them, at some place among their words. */
const wrappers = new Set(
  (
    "env command builtin exec eval nohup sudo doas su runuser pkexec xargs parallel time timeout gtimeout nice ionice chrt taskset setsid stdbuf " +
    "unbuffer rlwrap unshare nsenter chroot fakeroot flock watch entr script expect strace ltrace gdb perf valgrind busybox toybox find fd fdfind " +
    "ssh tmux screen docker podman nix-shell direnv mise npx bunx uv poetry pipenv bundle xvfb-run dbus-run-session torsocks proxychains " +
    "coproc trap source . { } ! if then elif else fi do done while until for in select case esac function [[ " +
    "bwrap firejail systemd-run systemd-inhibit caffeinate start at batch"
  ).split(" "),
);
const shells = new Set("sh bash dash zsh ksh mksh ash fish".split(" "));
/** Where a git command names another one to run. */
const gitRuns = /^(?:run|foreach|filter-branch|-x.*|--ex.*)$/;
const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;
const maxDepth = 6;

/**
 * What the line could start, read in two ways: as the shell reads it, and with no regard to quotes and comments, since where these begin
 * and end is the first thing that a reading may get wrong.
 */
export function commandsIn(line: string): CommandStart[] {
  const text = line.replace(blank, " ");
  const unquoted = text.replace(/["'\\]/g, "").split(/[;&|\n()`]|[<>]+[&|-]?/);
  return [
    ...read(text, 0),
    ...unquoted.flatMap((words) => startsOf(words.split(/\s+/).filter(Boolean), maxDepth, false)),
  ];
}

/** What stands for a blank unless somebody set it otherwise. */
const blank = /\$IFS\b|\$\{IFS[^}]*\}/g;

function read(text: string, depth: number): CommandStart[] {
  const { commands, nested } = split(text);
  const starts = commands.flatMap((words) => startsOf(words, depth, false));
  const isFed = /(?<!\|)\|(?!\|)|<\(/.test(text) && starts.some(({ words, at }) => readsCommands(words[at] ?? ""));
  // The words of what stands at the other end of a shell's pipe, or in a process substitution for it, are what that shell reads.
  const fed = isFed ? commands.flatMap((words) => startsOf(words, depth, true)) : [];
  if (depth >= maxDepth) return [...starts, ...fed];
  return [...starts, ...fed, ...nested.flatMap((inner) => read(inner, depth + 1))];
}

/** The beginning of a command, and where it runs others, every later word and every text among its words. */
function startsOf(given: readonly string[], depth: number, runsOthers: boolean): CommandStart[] {
  const words = given.flatMap(expandBraces);
  let first = 0;
  while (first < words.length && assignment.test(words[first] ?? "")) first++;
  if (first === words.length) return [];
  const starts: CommandStart[] = [{ words, at: first }];
  const from = runsOthers ? first + 1 : firstRun(words, first);
  for (let at = from; at < words.length; at++) {
    starts.push({ words, at });
    for (const text of textsIn(words[at] ?? "")) if (depth < maxDepth) starts.push(...read(text, depth + 1));
  }
  return starts;
}

/** Where what the command at `first` runs may begin; behind the last word when it runs nothing. */
function firstRun(words: readonly string[], first: number): number {
  const program = programName(words[first] ?? "");
  if (wrappers.has(program) || isShell(program)) return first + 1;
  const run = program === "git" ? words.findIndex((word, at) => at > first && gitRuns.test(word)) : -1;
  return run === -1 ? words.length : run;
}

function isShell(word: string): boolean {
  return shells.has(programName(word));
}

/** Whether a program takes its commands from a file or its input. */
function readsCommands(word: string): boolean {
  return isShell(word) || word === "source" || word === ".";
}

/** The lines of shell that a word may be or hold: itself, and what stands right behind an option (`-S'rm x'`, `--exec=rm x`) or a name. */
function textsIn(word: string): string[] {
  const texts = /[\s;&|<>()`]/.test(word) ? [word] : [];
  const value = /^(?:--?[\w-]+|[A-Za-z_]\w*)=(.+)$/s.exec(word)?.[1];
  if (value !== undefined) texts.push(value);
  // Several short options may be written as one.
  if (/^-[A-Za-z]/.test(word)) for (let skip = 2; skip < Math.min(word.length, 5); skip++) texts.push(word.slice(skip));
  return texts;
}

const maxBraceWords = 64;

/** The words that `a{b,c}` stands for; a word without such braces is itself. */
function expandBraces(word: string): string[] {
  const done: string[] = [];
  const open = [word];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [, before = "", list, behind = ""] = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(next) ?? [];
    if (list === undefined || done.length + open.length > maxBraceWords) done.push(next);
    else
      open.push(
        ...list
          .split(",")
          .toReversed()
          .map((part) => before + part + behind),
      );
  }
  return done.filter((text) => text !== "" || word === "");
}

/** The last component of a program's path. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

interface Pieces {
  readonly commands: readonly string[][];
  /** Texts that are lines of shell themselves, or may be: substitutions inside double quotes, here-documents, and what is redirected from. */
  readonly nested: readonly string[];
}

function split(line: string): Pieces {
  const commands: string[][] = [];
  const nested: string[] = [];
  let words: string[] = [];
  let word: string | undefined;
  /** What the next word is, when it stands behind a redirection: a file or text, or what ends a here-document. */
  let redirection: "target" | "delimiter" | undefined;
  /** What ends the here-documents that begin behind this line. */
  let delimiters: string[] = [];
  let i = 0;

  function endWord(): void {
    if (word === undefined) return;
    if (redirection === "delimiter") delimiters.push(word);
    else if (redirection === "target") nested.push(word);
    else words.push(word);
    redirection = undefined;
    word = undefined;
  }

  function endCommand(): void {
    endWord();
    redirection = undefined;
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

  /** Takes the here-documents that begin at the start of a line. Whatever they are for, a shell might read them. */
  function takeHereDocuments(): void {
    for (const delimiter of delimiters) {
      const start = i;
      let end = i;
      for (let isEnd = false; i < line.length && !isEnd; ) {
        const lineEnd = line.indexOf("\n", i);
        isEnd = line.slice(i, lineEnd === -1 ? undefined : lineEnd).replace(/^\t+/, "") === delimiter;
        if (!isEnd) end = lineEnd === -1 ? line.length : lineEnd;
        i = lineEnd === -1 ? line.length : lineEnd + 1;
      }
      nested.push(line.slice(start, end));
    }
    delimiters = [];
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
    } else if (character === "#" && word === undefined) {
      while (i < line.length && line[i] !== "\n") i++;
    } else if (";&|\n()`".includes(character)) {
      endCommand();
      if (character === "\n") takeHereDocuments();
    } else if (character === "<" || character === ">") {
      if (word !== undefined && /^\d+$|^\{\w+\}$/.test(word)) word = undefined;
      endWord();
      const start = i - 1;
      while ("<>&|-".includes(line[i] || " ")) i++;
      redirection = /^<<-?$/.test(line.slice(start, i)) ? "delimiter" : "target";
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
