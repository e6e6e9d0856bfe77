// One file of ignore rules, see gitignore(5): text in, rules out.

export interface IgnoreRule {
  /** False for a rule with `!`, which takes paths back. */
  readonly ignores: boolean;
  readonly foldersOnly: boolean;
  /** Judges the path below the rule's folder; otherwise just the name. */
  readonly wholePath: boolean;
  readonly fits: (text: string) => boolean;
}

export function parseIgnoreFile(text: string): IgnoreRule[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .flatMap(parseLine);
}

function parseLine(line: string): IgnoreRule[] {
  const trimmed = withoutBlanks(line);
  if (trimmed === "" || trimmed.startsWith("#")) return [];
  const ignores = !trimmed.startsWith("!");
  const given = ignores ? trimmed : trimmed.slice(1);
  const foldersOnly = given.endsWith("/");
  const glob = foldersOnly ? given.slice(0, -1) : given;
  if (glob === "" || glob === "/") return [];
  const wholePath = glob.includes("/");
  return [{ ignores, foldersOnly, wholePath, fits: createTest(glob.startsWith("/") ? glob.slice(1) : glob) }];
}

/** Without the blanks at its end, but for one that a backslash keeps. */
function withoutBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end--;
  let start = end;
  while (line[start - 1] === "\\") start--;
  return (end - start) % 2 === 1 ? line.slice(0, end + 1) : line.slice(0, end);
}

/** Most rules are a plain name or `*.ext`, which need no glob. */
function createTest(glob: string): (text: string) => boolean {
  if (!/[*?[\]\\{}!]/.test(glob)) return (text) => text === glob;
  const ending = glob.slice(1);
  if (glob.startsWith("*") && !/[*?[\]\\{}!/]/.test(ending)) return (text) => text.endsWith(ending);
  // Braces and an exclamation mark mean nothing to git.
  const plain = glob.replace(/\\.|[{}]/g, (part) => (part.length > 1 ? part : `\\${part}`)).replace(/^!/, "\\!");
  const compiled = new Bun.Glob(plain);
  return (text) => compiled.match(text);
}
