// Where in a TOML text something stands: the line of a syntax error, and the line that sets a key. Pure.

/** Longer files are not searched line by line. */
const maxLines = 5000;

/**
 * The line after the longest beginning of the text that is valid by itself, from 1. An unfinished list or string is told by the line where
 * it began. Undefined when that cannot be found out.
 */
export function lineOfSyntaxError(text: string, isValid: (text: string) => boolean): number | undefined {
  const lines = text.split("\n");
  if (lines.length > maxLines) return undefined;
  for (let count = lines.length - 1; count >= 0; count--) {
    if (isValid(lines.slice(0, count).join("\n"))) return firstOfSubstance(lines, count);
  }
  return undefined;
}

function firstOfSubstance(lines: readonly string[], from: number): number {
  const offset = lines.slice(from).findIndex((line) => !/^\s*(#|$)/.test(line));
  return from + Math.max(offset, 0) + 1;
}

/** The line that sets the key with this path, or that opens the nearest table around it; undefined when neither is there. */
export function lineOfKey(text: string, path: readonly PropertyKey[]): number | undefined {
  const wanted = path.filter((part) => typeof part === "string");
  let table: string[] = [];
  let best: { line: number; depth: number } | undefined;
  text.split("\n").forEach((line, index) => {
    const header = /^\s*\[+\s*([^\]]+?)\s*\]+/.exec(line)?.[1];
    const key = header === undefined ? /^\s*([\w."'-]+(?:\s*\.\s*[\w"'-]+)*)\s*=/.exec(line)?.[1] : undefined;
    if (header !== undefined) table = splitKey(header);
    else if (key === undefined) return;
    const here = key === undefined ? table : [...table, ...splitKey(key)];
    const fits = here.length > 0 && here.every((part, i) => part === wanted[i]);
    if (fits && here.length > (best?.depth ?? 0)) best = { line: index + 1, depth: here.length };
  });
  return best?.line;
}

/** The parts of a dotted key without their quotes. */
function splitKey(key: string): string[] {
  const parts = key.match(/"[^"]*"|'[^']*'|[^.\s"']+/g) ?? [];
  return parts.map((part) => part.replace(/^["']|["']$/g, ""));
}
