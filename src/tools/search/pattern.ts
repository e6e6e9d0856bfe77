// Regular expressions as ripgrep writes them (Rust's regex syntax, for one line at a time), parsed into a small tree.
// Backreferences and lookaround are refused, as there: what is left can be matched in linear time.
import { toolError } from "../tool.ts";
import { type CharSet, parseBracket, parseEscapedSet, parseProperty, singleCharacter } from "./char-set.ts";

export type Pattern =
  | { readonly type: "set"; readonly set: CharSet }
  | { readonly type: "assert"; readonly kind: Assertion }
  | { readonly type: "concat"; readonly items: readonly Pattern[] }
  | { readonly type: "alternate"; readonly options: readonly Pattern[] }
  | { readonly type: "repeat"; readonly item: Pattern; readonly min: number; readonly max: number };

export type Assertion = "start" | "end" | "boundary" | "no boundary";

const maxRepeat = 1000;
const maxDepth = 100;

export interface PatternOptions {
  readonly ignoreCase: boolean;
  /** The text stands for itself. */
  readonly literal: boolean;
}

/** Throws `ToolError` for what is no pattern, or none that can be matched. */
export function parsePattern(source: string, { ignoreCase, literal }: PatternOptions): Pattern {
  if (source.includes("\n")) throw lineBreak();
  if (!literal) return createParser(source, ignoreCase).parse();
  return {
    type: "concat",
    items: [...source].map((char) => ({ type: "set", set: singleCharacter(char, ignoreCase) })),
  };
}

interface Parser {
  parse(): Pattern;
}

function createParser(source: string, ignoreCaseFromStart: boolean): Parser {
  let at = 0;
  let depth = 0;
  let ignoreCase = ignoreCaseFromStart;

  const fail = (problem: string) => toolError(`the pattern ${source} is not valid: ${problem}`);
  const peek = () => source[at];

  function take(text: string): boolean {
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  }

  function takeMatch(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = at;
    const match = sticky.exec(source);
    if (!match) return undefined;
    at = sticky.lastIndex;
    return match;
  }

  function parseAlternatives(): Pattern {
    if (++depth > maxDepth) throw fail("its groups are nested too deeply");
    const options = [parseSequence()];
    while (take("|")) options.push(parseSequence());
    depth--;
    return options.length === 1 && options[0] ? options[0] : { type: "alternate", options };
  }

  function parseSequence(): Pattern {
    const items: Pattern[] = [];
    while (at < source.length && peek() !== "|" && peek() !== ")") {
      const item = parseAtom();
      if (item) items.push(parseQuantifiers(item));
    }
    return { type: "concat", items };
  }

  function parseQuantifiers(item: Pattern): Pattern {
    let result = item;
    for (let bounds = takeBounds(); bounds; bounds = takeBounds()) {
      const [min, max] = bounds;
      if (max < min) throw fail(`{${min},${max}} is no range`);
      if (min > maxRepeat || (max > maxRepeat && max !== Infinity)) throw fail(`more than ${maxRepeat} repetitions`);
      take("?");
      result = { type: "repeat", item: result, min, max };
    }
    return result;
  }

  function takeBounds(): [min: number, max: number] | undefined {
    if (take("*")) return [0, Infinity];
    if (take("+")) return [1, Infinity];
    if (take("?")) return [0, 1];
    const counted = takeMatch(/\{(\d+)(,?)(\d*)\}/y);
    if (!counted) return undefined;
    const [, min = "", comma, max] = counted;
    return [Number(min), comma ? (max ? Number(max) : Infinity) : Number(min)];
  }

  function parseAtom(): Pattern | undefined {
    if (/[*+?]/.test(peek() ?? "") || /^\{\d+,?\d*\}/.test(source.slice(at))) {
      throw fail(`nothing to repeat before ${source.slice(at, at + 5)}`);
    }
    if (take("^")) return { type: "assert", kind: "start" };
    if (take("$")) return { type: "assert", kind: "end" };
    if (take(".")) return { type: "set", set: anyCharacter };
    if (take("(")) return parseGroup();
    if (take("[")) {
      const bracket = parseBracket(source, at, ignoreCase, fail);
      at = bracket.end;
      return { type: "set", set: bracket.set };
    }
    if (take("\\")) return parseEscape();
    return parseCharacter();
  }

  function parseGroup(): Pattern | undefined {
    if (takeMatch(/\?<?[=!]/y)) {
      throw fail("lookahead and lookbehind are not supported; match more, or use bash with grep -P");
    }
    const outer = ignoreCase;
    const flags = takeMatch(/\?([a-zA-Z]*)(-[a-zA-Z]+)?([:)])/y);
    if (flags) setFlags(flags[1] ?? "", flags[2] ?? "");
    else if (!takeMatch(/\?P?<[A-Za-z_]\w*>/y) && peek() === "?") throw fail("unknown kind of group");
    // `(?i)` holds to the end of the group it stands in.
    if (flags?.[3] === ")") return undefined;
    const inner = parseAlternatives();
    if (!take(")")) throw fail("a ( is never closed");
    ignoreCase = outer;
    return inner;
  }

  function setFlags(on: string, off: string): void {
    const unknown = /[^imsuU-]/.exec(on + off);
    if (unknown) throw fail(`unknown flag ${unknown[0]}`);
    if (on.includes("i")) ignoreCase = true;
    if (off.includes("i")) ignoreCase = false;
  }

  function parseEscape(): Pattern {
    if (at >= source.length) throw fail("it ends with a lone \\");
    if (take("b")) return { type: "assert", kind: "boundary" };
    if (take("B")) return { type: "assert", kind: "no boundary" };
    if (take("A")) return { type: "assert", kind: "start" };
    if (take("z")) return { type: "assert", kind: "end" };
    if (/[1-9k]/.test(peek() ?? "")) throw fail("backreferences are not supported; use bash with grep -P");
    const property = parseProperty(source, at, ignoreCase, fail);
    if (property) {
      at = property.end;
      return { type: "set", set: property.set };
    }
    const escaped = parseEscapedSet(source, at, ignoreCase, fail);
    if (escaped.isLineBreak) throw lineBreak();
    at = escaped.end;
    return { type: "set", set: escaped.set };
  }

  function parseCharacter(): Pattern {
    const char = String.fromCodePoint(source.codePointAt(at) ?? 0);
    at += char.length;
    return { type: "set", set: singleCharacter(char, ignoreCase) };
  }

  return {
    parse() {
      const pattern = parseAlternatives();
      if (at < source.length) throw fail("a ) was never opened");
      return pattern;
    },
  };
}

const anyCharacter: CharSet = { key: ".", matches: () => true };

function lineBreak() {
  return toolError("a pattern is matched within one line, so it cannot hold a line break; search for one of its lines");
}
