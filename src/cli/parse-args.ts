// The command line against a command's flags, strictly: an unknown flag or a missing value is a usage error with a suggestion.
// citty describes the commands; its own parser lets unknown flags pass and costs a third of a start.
import type { ArgDef } from "citty";
import { closest } from "../util/closest.ts";
import { AppError } from "../util/error.ts";

/**
 * Flags as citty describes them. A `repeatable` string flag may be given several times, and all its values count. One with a `valueless`
 * meaning may stand alone and is then ""; the word behind it is its value only where it could be one. Aliases of up to three letters are
 * short forms, with one dash; a `negativeAlias` turns its switch off. What a shell offers for a value is told by `complete`, or else by a
 * `valueHint` that names files or folders. In the help, a flag with a `group` begins one of that name.
 */
export type FlagsDef = Record<
  string,
  ArgDef & {
    readonly repeatable?: boolean;
    readonly valueless?: ValueTest;
    readonly negativeAlias?: string;
    readonly complete?: Completion;
    readonly group?: string;
  }
>;

/** The values themselves, or where they come from. A list with commas between them is completed at its end. */
export type Completion = readonly string[] | ValueSource | "files" | "folders";

/** Values that `pi-ts completions --values` lists. */
export type ValueSource = "providers" | "models" | "fallbacks" | "sessions" | "tools" | "mcp-servers";

/** Whether a word that follows such a flag is its value, beside the other flags that are given. */
export type ValueTest = (word: string, isGiven: (name: string) => boolean) => boolean;

/** What was given: text for string flags, true or false for switches, a list for repeatable flags; absent flags are undefined. */
export type ParsedFlags<Args extends FlagsDef> = {
  readonly [Name in keyof Args as Args[Name]["type"] extends "positional" ? never : Name]?:
    | (Args[Name]["type"] extends "boolean"
        ? boolean
        : Args[Name] extends { readonly repeatable: true }
          ? readonly string[]
          : string)
    | undefined;
};

export interface ParsedWords {
  /** The words that are not flags, in order. */
  readonly words: readonly string[];
  /** How many of them, at the end, stood behind `--`. */
  readonly literal: number;
}

export interface ParsedArgs<Args extends FlagsDef> extends ParsedWords {
  readonly flags: ParsedFlags<Args>;
}

/**
 * Takes `--name value`, `--name=value`, `--switch`, `--no-switch`, short forms (`-m value`, `-pq` for switches) and `--`, after which
 * everything is a word. A lone `-` is a word, and so is a text with spaces that begins with a dash. Throws `AppError` `usage`.
 * `command` is the one whose flags these are, unless they are those of a run, whose words are a task.
 */
export function parseArgs<Args extends FlagsDef>(
  argv: readonly string[],
  args: Args,
  command?: string,
): ParsedArgs<Args> {
  const seeHelp = `See pi-ts ${command === undefined ? "" : `${command} `}--help.`;
  const flags: Record<string, string | boolean | readonly string[]> = {};
  const words: string[] = [];
  let literal = 0;
  const names = createNames(args);
  const isSwitch = (name: string) => args[name]?.type === "boolean";
  const isGiven = (name: string) => flagsIn(argv, names).has(name);

  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? "";
    if (word === "--") {
      words.push(...argv.slice(i + 1));
      literal = argv.length - i - 1;
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    const equals = word.startsWith("--") ? word.indexOf("=") : -1;
    const flag = equals === -1 ? word : word.slice(0, equals);
    const given = equals === -1 ? undefined : word.slice(equals + 1);
    const name = names.find(flag);
    if (name === undefined && /^-{1,2}[^-=\s]*\s/.test(word)) words.push(word);
    else if (name === undefined) {
      const negated = names.negated(flag) ?? (flag.startsWith("--no-") ? names.find(`--${flag.slice(5)}`) : undefined);
      const group = /^-[a-zA-Z]{2,}$/.test(flag) ? [...flag.slice(1)].map((letter) => names.find(`-${letter}`)) : [];
      if (negated !== undefined && isSwitch(negated) && given === undefined) flags[negated] = false;
      else if (group.length > 0 && group.every((member) => member !== undefined && isSwitch(member))) {
        for (const member of group) flags[member as string] = true;
      } else {
        const hint = suggestFlag(flag, names) ?? seeHelp;
        const aside = command === undefined ? " A task that begins with a dash goes after `--`." : "";
        throw usage(`Unknown flag ${flag}`, `${hint}${aside}`);
      }
    } else if (isSwitch(name)) {
      if (given !== undefined)
        throw usage(`${flag} takes no value`, `Write ${flag} alone; a task is a word of its own.`);
      flags[name] = true;
    } else if (args[name]?.valueless !== undefined && given === undefined) {
      const next = argv[i + 1];
      const takesNext =
        next !== undefined && next !== "" && !next.startsWith("-") && args[name].valueless(next, isGiven);
      flags[name] = takesNext ? next : "";
      if (takesNext) i++;
    } else {
      const value = given ?? argv[++i];
      if (value === undefined) throw usage(`${flag} needs a value`, seeHelp);
      if (given === undefined && (names.find(value) ?? names.negated(value)) !== undefined) {
        throw usage(`${flag} needs a value, but ${value} follows`, `Write ${flag}=${value} if that is the value.`);
      }
      // Else it would be the working directory.
      if (value === "" && namesFile(args[name])) throw usage(`${flag} needs a file, and its value is empty`, seeHelp);
      flags[name] = args[name]?.repeatable ? [...((flags[name] as readonly string[]) ?? []), value] : value;
    }
  }
  return { flags: flags as ParsedFlags<Args>, words, literal };
}

/** A flag as it is written, dashes and all, to its name. */
interface FlagNames {
  find(flag: string): string | undefined;
  /** The name of the switch that the flag turns off. */
  negated(flag: string): string | undefined;
  /** All that `find` knows. */
  all(): string[];
}

function createNames(args: FlagsDef): FlagNames {
  const isFlag = (name: string) => {
    // What every object has, such as a `constructor`, has no type.
    const type = args[name]?.type;
    return type !== undefined && type !== "positional";
  };
  const withAlias = (flag: string) => {
    for (const name in args)
      if (isFlag(name) && aliasesOf(args[name]!).some((alias) => dashed(alias) === flag)) return name;
    return undefined;
  };
  return {
    find(flag) {
      // Most flags are written in full, and found at once.
      const name = flag.startsWith("--") ? flag.slice(2) : "";
      return isFlag(name) ? name : withAlias(flag);
    },
    negated(flag) {
      for (const name in args) {
        const alias = args[name]?.negativeAlias;
        if (alias !== undefined && dashed(alias) === flag) return name;
      }
      return undefined;
    },
    all: () =>
      Object.keys(args)
        .filter(isFlag)
        .flatMap((name) => [`--${name}`, ...aliasesOf(args[name]!).map(dashed)]),
  };
}

/** The names of the flags that stand before a `--`, as far as their words alone tell. */
function flagsIn(argv: readonly string[], names: FlagNames): Set<string> {
  const end = argv.indexOf("--");
  const words = end === -1 ? argv : argv.slice(0, end);
  const flags = words.flatMap((word) => {
    if (/^-[a-zA-Z]{2,}$/.test(word) && names.find(word) === undefined)
      return [...word.slice(1)].map((letter) => `-${letter}`);
    return [word.replace(/=.*$/s, "")];
  });
  return new Set(flags.flatMap((flag) => names.find(flag) ?? []));
}

/** An alias with its dashes. */
export function dashed(alias: string): string {
  return `${alias.length <= 3 ? "-" : "--"}${alias}`;
}

export function aliasesOf(arg: FlagsDef[string]): readonly string[] {
  if (!("alias" in arg) || arg.alias === undefined) return [];
  return typeof arg.alias === "string" ? [arg.alias] : arg.alias;
}

function namesFile(arg: FlagsDef[string] | undefined): boolean {
  return arg !== undefined && "valueHint" in arg && (arg.valueHint?.startsWith("file") ?? false);
}

function suggestFlag(flag: string, names: FlagNames): string | undefined {
  const negative = flag.startsWith("--no-") ? "no-" : "";
  const candidates = names
    .all()
    .filter((name) => name.startsWith("--"))
    .map((name) => name.slice(2));
  const suggestion = closest(flag.replace(/^--?(no-)?/, ""), candidates);
  return suggestion && `Did you mean --${negative}${suggestion}?`;
}

function usage(message: string, hint: string): AppError {
  return new AppError("usage", message, { hint });
}
