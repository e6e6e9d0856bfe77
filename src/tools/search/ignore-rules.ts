// Which paths of a tree are ignored: `.gitignore` and `.ignore` of each folder, and `.git/info/exclude`.
// As in ripgrep, `.ignore` wins over `.gitignore` at any depth, and a repository within another one is judged by its own files only.
import { dirname, join } from "node:path";
import { realTarget } from "../../util/paths.ts";
import { exists } from "../../util/repository-root.ts";
import { type IgnoreRule, parseIgnoreFile } from "./ignore-file.ts";
import { readPlainFile } from "./plain-file.ts";

/** The rules that hold for the entries of one folder. Paths are absolute. */
export interface IgnoreRules {
  isIgnored(path: string, name: string, isFolder: boolean): boolean;
  /** The rules for the entries of the folder at `path`; `names` are these entries, when they are known. */
  enter(path: string, names?: ReadonlySet<string>): Promise<IgnoreRules>;
}

/** Larger files hold no rules that somebody wrote. */
const maxFileBytes = 1024 * 1024;

/** One file's rules; the last that fits decides. */
interface RuleList {
  /** The folder they are relative to, with a slash behind it. */
  readonly base: string;
  readonly rules: readonly IgnoreRule[];
}

/** By strength; within each, inner folders first. */
interface Lists {
  readonly ignore: readonly RuleList[];
  readonly gitignore: readonly RuleList[];
  readonly exclude: readonly RuleList[];
}

/** The rules that hold for `folder` itself: those of the folders above it, from `top` on. */
export async function rulesAbove(top: string, folder: string): Promise<IgnoreRules> {
  const above: string[] = [];
  for (let path = folder; path !== top && dirname(path) !== path; path = dirname(path)) above.unshift(dirname(path));
  let rules = rulesOf({ ignore: [], gitignore: [], exclude: [] });
  for (const path of above) rules = await rules.enter(path);
  return rules;
}

function rulesOf(lists: Lists): IgnoreRules {
  const inOrder = [...lists.ignore, ...lists.gitignore, ...lists.exclude];
  return {
    isIgnored(path, name, isFolder) {
      for (const list of inOrder) {
        const verdict = judge(list, path, name, isFolder);
        if (verdict !== undefined) return verdict;
      }
      return false;
    },
    async enter(path, names) {
      const load = async (name: string, file = name) =>
        names === undefined || names.has(name) ? loadRules(path, file) : [];
      const ignore = await load(".ignore");
      const gitignore = await load(".gitignore");
      const exclude = await load(".git", ".git/info/exclude");
      const isRepository = names ? names.has(".git") : exists(join(path, ".git"));
      if (ignore.length + gitignore.length === 0 && !isRepository) return this;
      return rulesOf({
        ignore: [...ignore, ...lists.ignore],
        gitignore: isRepository ? gitignore : [...gitignore, ...lists.gitignore],
        exclude: isRepository ? exclude : lists.exclude,
      });
    },
  };
}

function judge({ base, rules }: RuleList, path: string, name: string, isFolder: boolean): boolean | undefined {
  let below: string | undefined;
  for (let index = rules.length - 1; index >= 0; index--) {
    const rule = rules[index];
    if (!rule || (rule.foldersOnly && !isFolder)) continue;
    if (rule.wholePath) below ??= path.slice(base.length);
    if (rule.fits(rule.wholePath ? (below ?? "") : name)) return rule.ignores;
  }
  return undefined;
}

/** None where there is no file that can be read. */
async function loadRules(folder: string, file: string): Promise<RuleList[]> {
  try {
    const path = join(folder, file);
    // The `.git` on the way may be a link.
    const bytes = await readPlainFile(file.includes("/") ? realTarget(path) : path, maxFileBytes);
    const rules = bytes ? parseIgnoreFile(bytes.toString("utf8")) : [];
    return rules.length > 0 ? [{ base: folder.endsWith("/") ? folder : `${folder}/`, rules }] : [];
  } catch {
    return [];
  }
}
