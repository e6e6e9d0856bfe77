// The pattern of a rule for files: a path, relative to the working directory or absolute, whose components may be globs and `**`.
import { sep } from "node:path";
import { isInside, realTarget, resolvePath } from "../util/paths.ts";

export interface PathPattern {
  /** Absolute, one entry a component, the first is the drive (empty where there are none). Several where it can be read in several ways. */
  readonly ways: readonly (readonly string[])[];
  /** Whether it means names in any case, and with accents written in either way. */
  readonly anyCase: boolean;
}

const special = /[*?[\]{}\\]/;
/** Where a file is usually found under its name in any case; on macOS also whether an accent is a part of its letter or a character of its own. */
const foldsCase = process.platform === "darwin" || process.platform === "win32";

/**
 * Throws nothing; undefined for a text that is no pattern. A pattern for a place outside the working directory is also understood with the
 * links on its way followed, as with /tmp on macOS; inside, a link would be the project's own word for where it may lead. With `wholeFolders`
 * a last component without globs, which may be a folder's name, covers everything below it too. With `anyCase` so does every spelling of its
 * names in capitals and small letters, and of their accents, which a rule that denies needs where they lead to the same file.
 */
export function parsePathPattern(
  text: string,
  realCwd: string,
  wholeFolders = false,
  anyCase = wholeFolders && foldsCase,
): PathPattern | undefined {
  const ways = parseWays(text, realCwd)?.map((way) => (anyCase ? way.map(fold) : way));
  if (!ways) return undefined;
  return {
    ways: wholeFolders ? ways.map((way) => (isLiteral(way.at(-1) ?? "") ? [...way, "**"] : way)) : ways,
    anyCase,
  };
}

function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function isLiteral(component: string): boolean {
  return !special.test(component.replace(/\\./g, ""));
}

function parseWays(text: string, realCwd: string): PathPattern["ways"] | undefined {
  if (text === "" || text.includes("\0") || hasSplitBraces(text)) return undefined;
  const components = split(resolvePath(realCwd, text.replace(/\/$/, "/**")));
  const literal = components.findIndex((component) => special.test(component));
  const base = components.slice(0, literal === -1 ? undefined : literal).join(sep) || sep;
  if (isInside(realCwd, base)) return [components];
  const rest = literal === -1 ? [] : components.slice(literal);
  return [components, [...split(realBase(base)), ...rest]];
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

/** The root alone is its drive alone. */
function split(path: string): string[] {
  const components = path.split(sep);
  return components.length === 2 && components[1] === "" ? components.slice(0, 1) : components;
}

export function matchesPath({ ways, anyCase }: PathPattern, path: string): boolean {
  const components = anyCase ? split(path).map(fold) : split(path);
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
