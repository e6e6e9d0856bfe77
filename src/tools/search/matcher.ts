// Finds a pattern in lines, in time linear in their length whatever the pattern: its Thompson automaton, made deterministic as far
// as the text asks for it. JavaScript's own engine would backtrack, for minutes on some patterns, and could not be stopped.
import { toolError } from "../tool.ts";
import { type CharSet, isWordCharacter } from "./char-set.ts";
import type { Assertion, Pattern } from "./pattern.ts";

export interface Matcher {
  /** Where to begin a line. */
  begin(): Progress;
  /**
   * Goes on through text[from, to), which belongs to one line and splits no character. Answers how far it came:
   * a number when a match ends there.
   */
  advance(progress: Progress, text: string, from: number, to: number): Progress | number;
  /** Whether the line's end makes a match. */
  matchesAtEnd(progress: Progress): boolean;
}

/** How much of a pattern has matched so far; opaque. */
export interface Progress {
  /** What the automaton may have in hand, before empty steps. */
  readonly nodes: readonly number[];
  readonly before: Before;
  /** By class of the next character; known as far as needed yet. */
  readonly next: (Progress | undefined)[];
}

type Before = "start" | "word" | "other";

type Node =
  | { readonly type: "set"; readonly set: number; readonly next: number }
  | { readonly type: "split"; next: number; readonly other: number }
  | { readonly type: "assert"; readonly kind: Assertion; readonly next: number }
  | { readonly type: "match" };

const maxNodes = 3000;
/** States are forgotten and made anew when their lists have grown to so many numbers. */
const maxStateSize = 500_000;
const endOfLine = 0;

export function createMatcher(pattern: Pattern): Matcher {
  const { nodes, start, sets } = compile(pattern);
  const alphabet = createAlphabet(sets);
  let states = new Map<string, Progress>();
  let size = 0;
  let first: Progress | undefined;

  function stateOf(list: readonly number[], before: Before): Progress {
    const key = `${before} ${list.join(" ")}`;
    let state = states.get(key);
    if (!state) {
      size += list.length + alphabet.size();
      if (size > maxStateSize) {
        states = new Map();
        size = 0;
        first = undefined;
      }
      state = { nodes: list, before, next: [] };
      states.set(key, state);
    }
    return state;
  }

  function step(state: Progress, symbol: number): Progress {
    const nextIsWord = alphabet.isWord(symbol);
    const waiting: number[] = [];
    const isMatch = follow(state, symbol === endOfLine, nextIsWord, waiting);
    const result = isMatch ? matched : stateOf(reached(waiting, symbol), nextIsWord ? "word" : "other");
    state.next[symbol] = result;
    return result;
  }

  /** Takes every step that needs no character; collects the sets that wait for one. True when the pattern has matched. */
  function follow(state: Progress, atEnd: boolean, nextIsWord: boolean, waiting: number[]): boolean {
    const seen = new Uint8Array(nodes.length);
    const todo = [...state.nodes];
    for (let index = todo.pop(); index !== undefined; index = todo.pop()) {
      if (seen[index]) continue;
      seen[index] = 1;
      const node = nodes[index]!;
      if (node.type === "match") return true;
      if (node.type === "set") waiting.push(index);
      else if (node.type === "split") todo.push(node.next, node.other);
      else if (holds(node.kind, state.before, atEnd, nextIsWord)) todo.push(node.next);
    }
    return false;
  }

  /** What the character leads to; a match may always begin behind it too. */
  function reached(waiting: readonly number[], symbol: number): number[] {
    const next = new Set([start]);
    for (const index of waiting) {
      const node = nodes[index]!;
      if (node.type === "set" && alphabet.has(symbol, node.set)) next.add(node.next);
    }
    return [...next].sort((a, b) => a - b);
  }

  return {
    begin() {
      first ??= stateOf([start], "start");
      return first;
    },
    advance(progress, text, from, to) {
      let state = progress;
      for (let at = from; at < to; at++) {
        const code = text.charCodeAt(at);
        const isPair = code >= 0xd800 && code <= 0xdbff && at + 1 < to;
        const symbol = isPair ? alphabet.symbolOf(text.codePointAt(at)!) : alphabet.symbolOf(code);
        const next = state.next[symbol] ?? step(state, symbol);
        if (next === matched) return at;
        state = next;
        if (isPair && text.codePointAt(at)! > 0xffff) at++;
      }
      return state;
    },
    matchesAtEnd: (progress) => (progress.next[endOfLine] ?? step(progress, endOfLine)) === matched,
  };
}

const matched: Progress = { nodes: [], before: "start", next: [] };

function holds(kind: Assertion, before: Before, atEnd: boolean, nextIsWord: boolean): boolean {
  if (kind === "start") return before === "start";
  if (kind === "end") return atEnd;
  return ((before === "word") !== nextIsWord) === (kind === "boundary");
}

interface Automaton {
  readonly nodes: readonly Node[];
  readonly start: number;
  readonly sets: readonly CharSet[];
}

/** Built from the end: each part is given the node that follows it. */
function compile(pattern: Pattern): Automaton {
  const nodes: Node[] = [];
  const sets: CharSet[] = [];
  const setIndex = new Map<string, number>();

  function add(node: Node): number {
    if (nodes.length >= maxNodes) throw toolError("the pattern is too large; use fewer or smaller repetitions");
    return nodes.push(node) - 1;
  }

  function indexOf(set: CharSet): number {
    const known = setIndex.get(set.key);
    if (known !== undefined) return known;
    setIndex.set(set.key, sets.length);
    return sets.push(set) - 1;
  }

  function emit(part: Pattern, next: number): number {
    switch (part.type) {
      case "set":
        return add({ type: "set", set: indexOf(part.set), next });
      case "assert":
        return add({ type: "assert", kind: part.kind, next });
      case "concat":
        return part.items.reduceRight((after, item) => emit(item, after), next);
      case "alternate":
        return part.options
          .map((option) => emit(option, next))
          .reduceRight((other, option) => add({ type: "split", next: option, other }));
      case "repeat":
        return emitRepeat(part.item, part.min, part.max, next);
    }
  }

  function emitRepeat(item: Pattern, min: number, max: number, next: number): number {
    let result = next;
    if (max === Infinity) {
      const loop: Node & { type: "split" } = { type: "split", next, other: next };
      result = add(loop);
      loop.next = emit(item, result);
    } else {
      for (let left = max - min; left > 0; left--) {
        result = add({ type: "split", next: emit(item, result), other: next });
      }
    }
    for (let left = min; left > 0; left--) {
      const before = nodes.length;
      result = emit(item, result);
      // Nothing repeated is nothing; counting it out could take for ever.
      if (nodes.length === before) break;
    }
    return result;
  }

  const start = emit(pattern, add({ type: "match" }));
  return { nodes, start, sets };
}

interface Alphabet {
  /** The class of a code point: characters of one class are in the same sets. Never `endOfLine`. */
  symbolOf(code: number): number;
  isWord(symbol: number): boolean;
  has(symbol: number, set: number): boolean;
  /** How many classes are known. */
  size(): number;
}

function createAlphabet(sets: readonly CharSet[]): Alphabet {
  const symbols = new Map<string, number>();
  const members: boolean[][] = [[]];
  const words: boolean[] = [false];
  const basic = new Uint16Array(0x10000);
  const others = new Map<number, number>();

  function classify(code: number): number {
    const char = String.fromCodePoint(code);
    const inSets = sets.map((set) => set.matches(char));
    const isWord = isWordCharacter(char);
    const key = `${isWord} ${inSets.join(" ")}`;
    let symbol = symbols.get(key);
    if (symbol === undefined) {
      symbol = members.push(inSets) - 1;
      words.push(isWord);
      symbols.set(key, symbol);
    }
    if (code < basic.length) basic[code] = symbol;
    else others.set(code, symbol);
    return symbol;
  }

  return {
    symbolOf: (code) => (code < basic.length ? basic[code] : others.get(code)) || classify(code),
    isWord: (symbol) => words[symbol] ?? false,
    has: (symbol, set) => members[symbol]?.[set] ?? false,
    size: () => members.length,
  };
}
