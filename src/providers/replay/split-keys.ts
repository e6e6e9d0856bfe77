// Keys that an answer spells out over several events: no event holds one, and together they do. Pure.
import { formsOf, hidden } from "../../util/redact.ts";

export interface SplitKeys {
  /** Takes note of a text of whole lines; whether what follows could complete a key that has begun in it or before. */
  mayGoOn(text: string): boolean;
  /** The same texts, in which a key that stands in several of them is hidden where it begins. */
  hide(texts: readonly string[]): string[];
}

export function createSplitKeys(secrets: readonly (string | undefined)[]): SplitKeys {
  const keys = formsOf(secrets);
  /** How the text of each field ends, where a key begins like that. */
  const begun = new Map<string, string>();

  function beginningIn(text: string): string | undefined {
    const longest = Math.min(text.length, (keys[0]?.length ?? 0) - 1);
    for (let length = longest; length > 0; length--) {
      const end = text.slice(-length);
      if (keys.some((key) => key.length > length && key.startsWith(end))) return end;
    }
    return undefined;
  }

  return {
    mayGoOn(text) {
      for (const { path, value } of toLines(text).flatMap(({ fields }) => fields)) {
        const end = beginningIn((begun.get(path) ?? "") + value);
        if (end === undefined) begun.delete(path);
        else begun.set(path, end);
      }
      return begun.size > 0;
    },
    hide(texts) {
      const all = texts.map(toLines);
      const fields = all.flat().flatMap((line) => line.fields);
      for (const pieces of Map.groupBy(fields, ({ path }) => path).values()) hideIn(pieces, keys);
      return all.map((lines) => lines.map((line) => line.toText()).join(""));
    },
  };
}

/** A text in an event's JSON. Texts with one path continue each other. */
interface Field {
  readonly path: string;
  value: string;
}

interface Line {
  readonly fields: readonly Field[];
  /** The line as it came, unless a field has changed. */
  toText(): string;
}

function hideIn(pieces: readonly Field[], keys: readonly string[]): void {
  for (const key of keys) {
    const findKey = () =>
      pieces
        .map(({ value }) => value)
        .join("")
        .indexOf(key);
    for (let at = findKey(); at >= 0; at = findKey()) cutOut(pieces, at, at + key.length);
  }
}

/** Takes what stands from `from` to `to` of the joined pieces out of them, and leaves a word about it in the first. */
function cutOut(pieces: readonly Field[], from: number, to: number): void {
  let start = 0;
  let word = hidden;
  for (const piece of pieces) {
    const { value } = piece;
    const [first, last] = [Math.max(from - start, 0), Math.min(to - start, value.length)];
    start += value.length;
    if (first >= last) continue;
    piece.value = value.slice(0, first) + word + value.slice(last);
    word = "";
  }
}

/** The lines of a stream with their line ends; only those that are an event's JSON have fields. */
function toLines(text: string): Line[] {
  return (text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? []).map(toLine);
}

function toLine(line: string): Line {
  const [, start = "", json = "", end = ""] = /^(data: ?)(\{.*\})(\s*)$/.exec(line) ?? [];
  const event = json === "" ? undefined : parse(json);
  if (event === undefined) return { fields: [], toText: () => line };
  const fields: Field[] = [];
  const collect = (value: unknown, path: string): void => {
    if (typeof value === "string") fields.push({ path, value });
    else for (const [step, item] of entriesOf(value)) collect(item, `${path}/${step}`);
  };
  collect(event, "");
  const original = fields.map(({ value }) => value);
  return {
    fields,
    toText() {
      if (fields.every(({ value }, i) => value === original[i])) return line;
      let next = 0;
      const changed = JSON.stringify(event, (_key, value) =>
        typeof value === "string" ? fields[next++]?.value : value,
      );
      return start + changed + end;
    },
  };
}

/** What an object or a list holds; an item that says which one it is (`index`) is named by that, wherever it stands. */
function entriesOf(value: unknown): [step: string, item: unknown][] {
  if (typeof value !== "object" || value === null) return [];
  const own = "index" in value ? `${value.index}:` : "";
  return Object.entries(value).map(([key, item]) => {
    const isNumbered = Array.isArray(value) && typeof item === "object" && item !== null && "index" in item;
    return [isNumbered ? "" : own + key, item];
  });
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
