// Sets of characters in a pattern: `x`, `[a-z]`, `\d`, `\p{Greek}`. JavaScript's own regular expressions judge single characters.
import type { ToolError } from "../tool.ts";

export interface CharSet {
  /** Sets with the same key match the same characters. */
  readonly key: string;
  /** For one code point. */
  readonly matches: (char: string) => boolean;
  /** The only character it stands for, upper and lower case when `ignoreCase`. */
  readonly char?: string;
  readonly ignoreCase?: boolean;
}

type Fail = (problem: string) => ToolError;

/** As Rust's regex has them: all of Unicode. */
const perlSets: Readonly<Record<string, string>> = {
  d: "\\p{Nd}",
  w: "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}",
  s: "\\p{White_Space}",
};
const posixSets: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t-\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};
const controls: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f", v: "\v", a: "\x07", 0: "\0" };

const wordCharacter = new RegExp(`^[${perlSets.w}]$`, "u");

/** What `\b` stands between. */
export function isWordCharacter(char: string): boolean {
  return wordCharacter.test(char);
}

export function singleCharacter(char: string, ignoreCase: boolean): CharSet {
  if (!ignoreCase) return { key: `=${char}`, matches: (other) => other === char, char };
  const either = new RegExp(`^${hex(char)}$`, "iu");
  return { key: `~${char}`, matches: (other) => either.test(other), char, ignoreCase };
}

/** `members` is the inside of a bracket for JavaScript's `u` mode. */
function createSet(members: readonly string[], negated: boolean, ignoreCase: boolean, fail: Fail): CharSet {
  const flags = ignoreCase ? "iu" : "u";
  try {
    const any = members.map((member) => new RegExp(`^${member}$`, flags));
    return {
      key: `${flags}${negated ? "^" : ""}${members.join("|")}`,
      matches: (char) => any.some((member) => member.test(char)) !== negated,
    };
  } catch {
    throw fail("it has a set of characters that cannot be understood");
  }
}

/** `\p{…}` or `\P{…}`, `at` being behind the backslash; undefined when there is something else. */
export function parseProperty(
  source: string,
  at: number,
  ignoreCase: boolean,
  fail: Fail,
): { set: CharSet; end: number } | undefined {
  const property = propertyAt(source, at);
  return property && { set: createSet([`[${property.text}]`], false, ignoreCase, fail), end: property.end };
}

/** JavaScript's way to write the property: it wants braces, and scripts named as such. */
function propertyAt(source: string, at: number): { text: string; end: number } | undefined {
  const match = /^([pP])(?:\{([\w=]+)\}|([A-Z]))/.exec(source.slice(at, at + 60));
  if (!match) return undefined;
  const [whole, letter, braced, short] = match;
  const plain = `\\${letter}{${braced ?? short}}`;
  return { text: isValid(plain) ? plain : `\\${letter}{Script=${braced}}`, end: at + whole.length };
}

function isValid(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

interface EscapedSet {
  readonly set: CharSet;
  readonly end: number;
  readonly isLineBreak: boolean;
}

/** An escape that stands for one character or a set of them, `at` being behind the backslash. */
export function parseEscapedSet(source: string, at: number, ignoreCase: boolean, fail: Fail): EscapedSet {
  const letter = source.charAt(at);
  const perl = perlSets[letter.toLowerCase()];
  if (perl) {
    const set = createSet([`[${perl}]`], letter !== letter.toLowerCase(), false, fail);
    return { set, end: at + 1, isLineBreak: false };
  }
  const { char, end } = escapedCharacter(source, at, fail);
  return { set: singleCharacter(char, ignoreCase), end, isLineBreak: char === "\n" };
}

function escapedCharacter(source: string, at: number, fail: Fail): { char: string; end: number } {
  const coded = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[xuU]\{([0-9a-fA-F]{1,8})\})/.exec(
    source.slice(at, at + 12),
  );
  if (coded) {
    const code = Number.parseInt(coded.slice(1).find((digits) => digits !== undefined) ?? "", 16);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw fail(`\\${coded[0]} is no character`);
    return { char: String.fromCodePoint(code), end: at + coded[0].length };
  }
  const char = String.fromCodePoint(source.codePointAt(at) ?? 0);
  const control = Object.hasOwn(controls, char) ? controls[char] : undefined;
  if (control !== undefined) return { char: control, end: at + 1 };
  if (/[A-Za-z0-9<>]/.test(char))
    throw fail(`unknown escape \\${char}${char === "<" || char === ">" ? "; use \\b" : ""}`);
  return { char, end: at + char.length };
}

/** `[…]`, `at` being behind the opening bracket. */
export function parseBracket(
  source: string,
  at: number,
  ignoreCase: boolean,
  fail: Fail,
): { set: CharSet; end: number } {
  let position = at;
  const negated = source.startsWith("^", position);
  if (negated) position++;
  if (hasSetsWithin(source, position))
    throw fail("sets within a set, &&, -- and ~~ are not supported; write \\[, or a|b");
  let members = "";
  /** Sets that a bracket of JavaScript cannot hold. */
  const others: string[] = [];
  const first = position;
  for (; source[position] === "-"; position++) members += hex("-");

  for (;;) {
    if (position >= source.length) throw fail("a [ is never closed");
    if (source[position] === "]" && position > first) break;
    const named = /^\[:(\^?)(\w+):\]/.exec(source.slice(position, position + 12));
    if (named) {
      const posix = posixSets[named[2] ?? ""];
      if (posix === undefined) throw fail(`unknown set ${named[0]}`);
      others.push(named[1] ? `[^${posix}]` : `[${posix}]`);
      position += named[0].length;
      continue;
    }
    if (source[position] === "\\") {
      const property = propertyAt(source, position + 1);
      const perl = perlSets[source.charAt(position + 1).toLowerCase()];
      if (property) {
        members += property.text;
        position = property.end;
        continue;
      }
      if (perl) {
        others.push(/[DWS]/.test(source.charAt(position + 1)) ? `[^${perl}]` : `[${perl}]`);
        position += 2;
        continue;
      }
    }
    const low = member(source, position, fail);
    position = low.end;
    members += hex(low.char);
    const isRange = source[position] === "-" && position + 1 < source.length && source[position + 1] !== "]";
    if (!isRange) continue;
    const high = member(source, position + 1, fail);
    if ((high.char.codePointAt(0) ?? 0) < (low.char.codePointAt(0) ?? 0)) {
      throw fail(`${low.char}-${high.char} is no range`);
    }
    members += `-${hex(high.char)}`;
    position = high.end;
  }
  const all = members === "" ? others : [`[${members}]`, ...others];
  return { set: createSet(all, negated, ignoreCase, fail), end: position + 1 };
}

const bracketPart = /\\.|\[:\^?\w+:\]|\[\^?(?:-+|\])?|\]|&&|--|~~|./gsu;

/** Whether Rust's regex would find sets or their operators in a bracket, `at` being behind its `[` or `[^`. One that is not closed for it has none. */
function hasSetsWithin(source: string, at: number): boolean {
  bracketPart.lastIndex = at + (/^(?:-+|\])/.exec(source.slice(at))?.[0].length ?? 0);
  let found = false;
  let depth = 1;
  for (let part = bracketPart.exec(source)?.[0]; part !== undefined; part = bracketPart.exec(source)?.[0]) {
    const opens = part.startsWith("[") && !part.startsWith("[:");
    if (opens) depth++;
    if (part === "]" && --depth === 0) return found;
    found ||= opens || /^(?:&&|--|~~)$/.test(part);
  }
  return false;
}

/** One character inside of a bracket. */
function member(source: string, at: number, fail: Fail): { char: string; end: number } {
  if (source[at] === "\\" && at + 1 < source.length) {
    if (source[at + 1] === "b") return { char: "\b", end: at + 2 };
    return escapedCharacter(source, at + 1, fail);
  }
  const char = String.fromCodePoint(source.codePointAt(at) ?? 0);
  return { char, end: at + char.length };
}

function hex(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
