// What an edit has changed, as its arguments tell: the lines that went, behind a `-`, and those that came, behind a `+`.
import { isObject } from "../../util/is-object.ts";

/** Of the arguments of a call that has gone well; lines that both texts of an edit begin or end with are left out. */
export function changedLines({ edits, ...one }: Readonly<Record<string, unknown>>): string[] {
  const all: readonly unknown[] = Array.isArray(edits) && edits.length > 0 ? edits : [one];
  return all.flatMap((edit) => {
    if (!isObject(edit)) return [];
    const { old_string: before, new_string: after } = edit;
    return typeof before === "string" && typeof after === "string" ? difference(linesOf(before), linesOf(after)) : [];
  });
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function difference(before: readonly string[], after: readonly string[]): string[] {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start++;
  let end = 0;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const gone = before.slice(start, before.length - end);
  const come = after.slice(start, after.length - end);
  return [...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)];
}
