// Globs that choose paths: `*.ts` by name at any depth, `src/**/*.test.ts` by path.
import { join } from "node:path";
import type { SearchRoot } from "./search-root.ts";
import type { TreeEntry } from "./walk.ts";

export interface PathFilter {
  /** Whether the glob names something that begins with a dot, so that hidden files are wanted. */
  readonly wantsHidden: boolean;
  accepts(entry: TreeEntry): boolean;
}

/** A path is taken below the root of the search, below the working directory, or as absolute. `!` in front excludes. */
export function createPathFilter(glob: string, root: SearchRoot): PathFilter {
  const excludes = glob.startsWith("!");
  const wanted = (excludes ? glob.slice(1) : glob).replace(/^(?:\.\/)+/, "");
  const foldersOnly = wanted.endsWith("/");
  const pattern = wanted.replace(/\/+$/, "");
  const compiled = new Bun.Glob(pattern.replace(/^\/+/, ""));
  const absolute = pattern.startsWith("/") ? new Bun.Glob(pattern) : undefined;
  const byPath = pattern.includes("/");
  const fits = ({ path, name, kind }: TreeEntry) => {
    if (foldersOnly && kind !== "folder") return false;
    if (!byPath) return compiled.match(name);
    return (
      compiled.match(path) ||
      (root.prefix !== undefined && compiled.match(root.prefix + path)) ||
      (absolute?.match(join(root.absolute, path)) ?? false)
    );
  };
  const wantsHidden = !excludes && /(?:^|[/{,])\.[^./]/.test(pattern);
  return { wantsHidden, accepts: (entry) => fits(entry) !== excludes };
}
