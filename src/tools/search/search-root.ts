// Where a search begins, and how what it finds is named: relative to the working directory, or absolute outside of it.
import { realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import * as z from "zod/mini";
import { isInside, resolvePath } from "../../util/paths.ts";
import { repositoryRoot } from "../../util/repository-root.ts";
import { checkJudged, kindWord, toFileError, type Where } from "../regular-file.ts";
import { type ToolContext, toolError } from "../tool.ts";

export interface SearchRoot {
  /** Absolute, as it was asked for. */
  readonly absolute: string;
  /** Absolute, symlinks resolved. */
  readonly real: string;
  readonly isFolder: boolean;
  /** The folder whose ignore rules are the first to count: the repository's root, or else the working directory. */
  readonly top: string;
  /** The root below the working directory, with a slash behind it; empty when they are the same, undefined outside. */
  readonly prefix: string | undefined;
  /** The name to show for a path below the root; "" is the root. */
  show(path: string): string;
}

interface SearchInput {
  readonly pattern: string;
  readonly path?: string | undefined;
}

/** Whether a rule keeps what is at a path below the root from being shown, by the name that was asked for or by where it really is. */
export function isDenied(
  { absolute, real }: SearchRoot,
  below: string,
  toolName: string,
  { deniesPath }: Pick<ToolContext, "deniesPath">,
): boolean {
  return [absolute, real].some((folder) => deniesPath?.(toolName, join(folder, below)) ?? false);
}

/** What a tool that searches below a path declares, whatever it looks for. */
export const searching = {
  access: "read",
  summarize: ({ pattern, path }: SearchInput) => `${pattern}${path === undefined ? "" : ` in ${path}`}`,
  paths: ({ path = "." }: SearchInput) => [path],
} as const;

/** The field that names a folder to search. */
export function searchPath(what: string) {
  return z.optional(z.string().check(z.minLength(1), z.describe(`${what} (default: the working directory)`)));
}

/** Throws `ToolError` when there is no such file or folder. */
export async function findRoot({ cwd, isJudged }: Where, path: string): Promise<SearchRoot> {
  const absolute = resolvePath(cwd, path);
  try {
    const stats = await stat(absolute);
    if (!stats.isFile() && !stats.isDirectory()) {
      throw toolError(`${path} is a ${kindWord(stats)}, not a file or folder`);
    }
    const real = await realpath(absolute);
    checkJudged(real, path, isJudged);
    const realCwd = await realpath(cwd);
    const name = isInside(cwd, absolute) ? relative(cwd, absolute) : absolute;
    return {
      absolute,
      real,
      isFolder: stats.isDirectory(),
      top: repositoryRoot(real) ?? (isInside(realCwd, real) ? realCwd : real),
      prefix: isInside(cwd, absolute) ? (name === "" ? "" : `${name}/`) : undefined,
      show: (below) => shownPath(below === "" ? name || "." : join(name, below)),
    };
  } catch (error) {
    throw await toFileError(error, "read", cwd, path);
  }
}

/** One line whatever is in the name. */
export function shownPath(path: string): string {
  return /[\u0000-\u001f\u007f]/.test(path) ? JSON.stringify(path) : path;
}
