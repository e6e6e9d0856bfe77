// The pattern of a rule for files: a path, relative to the working directory or absolute, whose components may be globs and `**`.
import { sep } from "node:path";
import { isInside, realTarget, resolvePath } from "../util/paths.ts";

export interface PathPattern {
  /** Absolute, one entry a component. Several where it can be read in several ways. */
  readonly ways: readonly (readonly string[])[];
}

const special = /[*?[\]{}\\]/;

/**
 * Throws nothing; undefined for a text that is no pattern. A pattern for a place outside the working directory is also understood with the
 * links on its way followed, as with /tmp on macOS; inside, a link would be the project's own word for where it may lead. With `wholeFolders`
 * a last component without globs, which may be a folder's name, covers everything below it too.
 */
export function parsePathPattern(text: string, realCwd: string, wholeFolders = false): PathPattern | undefined {
  const pattern = parsePattern(text, realCwd);
  if (!pattern || !wholeFolders) return pattern;
  return { ways: pattern.ways.map((way) => (isLiteral(way.at(-1) ?? "") ? [...way, "**"] : way)) };
}

function isLiteral(component: string): boolean {
  return !special.test(component.replace(/\\./g, ""));
}

function parsePattern(text: string, realCwd: string): PathPattern | undefined {
  if (text === "" || text.includes("\0") || hasSplitBraces(text)) return undefined;
  const components = resolvePath(realCwd, text.replace(/\/$/, "/**")).split(sep).slice(1);
  const literal = components.findIndex((component) => special.test(component));
  const base = sep + components.slice(0, literal === -1 ? undefined : literal).join(sep);
  if (isInside(realCwd, base)) return { ways: [components] };
  const rest = literal === -1 ? [] : components.slice(literal);
  return { ways: [components, [...realBase(base).split(sep).slice(1).filter(Boolean), ...rest]] };
}

function realBase(base: string): string {
  try {
    return realTarget(base);
  } catch {
    return base;
  }
}

/** A brace that spans components, which a glob by component cannot tell. */
function hasSplitBraces(text: string): boolean {
  return /\{[^}]*\//.test(text);
}

export function matchesPath({ ways }: PathPattern, path: string): boolean {
  const components = path.split(sep).slice(1);
  return ways.some((way) => matchFrom(way, 0, components, 0));
}

function matchFrom(pattern: readonly string[], p: number, path: readonly string[], i: number): boolean {
  if (p === pattern.length) return i === path.length;
  if (pattern[p] === "**") {
    for (let next = i; next <= path.length; next++) if (matchFrom(pattern, p + 1, path, next)) return true;
    return false;
  }
  return i < path.length && matchComponent(pattern[p] ?? "", path[i] ?? "") && matchFrom(pattern, p + 1, path, i + 1);
}

function matchComponent(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  // A leading `!` would turn a glob around.
  return special.test(pattern) && new Bun.Glob(pattern.replace(/^!/, "\\!")).match(name);
}

/** A path as a pattern that means just that. */
export function escapePath(path: string): string {
  return path.replace(/[*?[\]{}\\]/g, "\\$&");
}
