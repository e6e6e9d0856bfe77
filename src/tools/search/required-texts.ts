// Texts of which a line must hold at least one if a pattern is to match it: a quick first look that rules out most files.
import type { Pattern } from "./pattern.ts";

/** With `ignoreCase` the texts may stand there in any case. */
export interface RequiredTexts {
  readonly texts: readonly string[];
  readonly ignoreCase: boolean;
}

const maxTexts = 16;
const minLength = 2;

/** Undefined when there are none worth looking for. */
export function requiredTexts(pattern: Pattern): RequiredTexts | undefined {
  const texts = find(pattern);
  if (!texts || texts.length > maxTexts || shortest(texts) < minLength) return undefined;
  return { texts: [...new Set(texts)].sort(), ignoreCase: hasIgnoreCase(pattern) };
}

function find(pattern: Pattern): readonly string[] | undefined {
  switch (pattern.type) {
    case "set":
      return pattern.set.char === undefined || isReplacement(pattern.set.char) ? undefined : [pattern.set.char];
    case "assert":
      return undefined;
    case "alternate": {
      const options = pattern.options.map(find);
      return options.every((texts) => texts !== undefined) ? options.flat() : undefined;
    }
    case "repeat":
      return pattern.min > 0 ? find(pattern.item) : undefined;
    case "concat":
      return best(pattern.items);
  }
}

/** The choice whose shortest text is longest, neighbouring characters taken together. */
function best(items: readonly Pattern[]): readonly string[] | undefined {
  let found: readonly string[] | undefined;
  let run = "";
  const consider = (texts: readonly string[] | undefined) => {
    if (texts && texts.length <= maxTexts && (!found || shortest(texts) > shortest(found))) found = texts;
  };
  for (const item of items) {
    const texts = find(item);
    if (item.type === "set" && texts) {
      run += texts[0];
    } else {
      if (run !== "") consider([run]);
      run = "";
      consider(texts);
    }
  }
  if (run !== "") consider([run]);
  return found;
}

function shortest(texts: readonly string[]): number {
  return Math.min(...texts.map((text) => text.length));
}

/** U+FFFD also stands for bytes that are no UTF-8, which a search for its own bytes would miss. */
function isReplacement(char: string): boolean {
  return char === "\ufffd" || (char >= "\ud800" && char <= "\udfff" && char.length === 1);
}

function hasIgnoreCase(pattern: Pattern): boolean {
  switch (pattern.type) {
    case "set":
      return pattern.set.ignoreCase ?? false;
    case "assert":
      return false;
    case "alternate":
      return pattern.options.some(hasIgnoreCase);
    case "repeat":
      return hasIgnoreCase(pattern.item);
    case "concat":
      return pattern.items.some(hasIgnoreCase);
  }
}
