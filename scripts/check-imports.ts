// Keeps the arrows of src/ pointing down: each room imports only what its row names. Whole files are read, types included.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface Room {
  /** Rooms and, where only an interface may be known, single files. Its own room and the floor are always allowed. */
  readonly knows: readonly string[];
  /** The packages and built-in modules it may import; anything when absent. */
  readonly packages?: RegExp;
  /** The globals it must leave alone. */
  readonly forbidden?: RegExp;
}

/** What every room stands on. */
const FLOOR = ["protocol", "util"];

/** From the top of the house to its floor. */
const ROOMS: Readonly<Record<string, Room>> = {
  "main.ts": { knows: ["cli", ...FLOOR] },
  "index.ts": { knows: ["sdk", ...FLOOR] },
  cli: { knows: ["modes", "app", "config", ...FLOOR] },
  modes: { knows: ["app", "commands", "permission/gate.ts", ...FLOOR] },
  commands: { knows: ["app", ...FLOOR] },
  app: {
    knows: ["agent", "providers", "tools", "permission", "session", "context", "config", "sdk", "export", ...FLOOR],
  },
  export: { knows: FLOOR },
  agent: {
    knows: [
      "providers/provider.ts",
      "providers/usage.ts",
      "tools/tool.ts",
      "permission/gate.ts",
      "session/session.ts",
      "context",
      ...FLOOR,
    ],
    packages: /^$/,
    forbidden: /(?<![\w.$"'-])(?:(?:Bun|process|console)\.|fetch\()/,
  },
  providers: { knows: FLOOR },
  tools: { knows: FLOOR },
  permission: { knows: FLOOR },
  session: { knows: FLOOR },
  context: { knows: FLOOR, packages: /^$/ },
  config: { knows: FLOOR },
  sdk: { knows: FLOOR, packages: /^node:/, forbidden: /(?<![\w.$"'-])Bun\./ },
  protocol: { knows: [], packages: /^zod(?:\/|$)/ },
  util: { knows: [] },
};

export interface Violation {
  /** Relative to src/. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

const STATIC_IMPORT = /^[ \t]*(?:import|export)\s(?:[^"'`;]*?\sfrom\s*)?["']([^"']+)["']/gm;
const DYNAMIC_IMPORT = /\bimport\(\s*(?:["']([^"']+)["'])?/g;
const IN_COMMENT = /^\s*\*|\/\/|\/\*/;

/** Checks one file, named by its path inside src/ with forward slashes. */
export function checkImports(file: string, source: string): Violation[] {
  const home = file.split("/")[0]!;
  const room = ROOMS[home];
  if (!room) return [{ file, line: 1, message: `src/${home} is no room of the house` }];

  const violations: Violation[] = [];
  const report = (index: number, message: string) =>
    violations.push({ file, line: source.slice(0, index).split("\n").length, message });

  for (const { specifier, index } of importsOf(source)) {
    const problem = specifier === undefined ? "import() needs a literal path" : judge(file, home, room, specifier);
    if (problem) report(index, problem);
  }
  if (room.forbidden) {
    for (const match of source.matchAll(new RegExp(room.forbidden, "g"))) {
      if (!isInComment(source, match.index)) report(match.index, `${home} does not use ${match[0].slice(0, -1)}`);
    }
  }
  return violations.sort((a, b) => a.line - b.line);
}

function judge(file: string, home: string, room: Room, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) {
    return room.packages && !room.packages.test(specifier) ? `${home} does not import ${specifier}` : undefined;
  }
  const target = join(dirname(file), specifier);
  if (target.startsWith("..")) {
    return target === "../package.json" ? undefined : `${specifier} leads out of src`;
  }
  const allowed = [home, ...room.knows].some((known) => target === known || target.startsWith(`${known}/`));
  return allowed ? undefined : `${home} does not know ${target}`;
}

/** Every import and re-export with the position of its path, which is undefined when it is not a literal. */
function importsOf(source: string): { specifier: string | undefined; index: number }[] {
  return [...source.matchAll(STATIC_IMPORT), ...source.matchAll(DYNAMIC_IMPORT)]
    .map((match) => ({ specifier: match[1], index: match.index + match[0].length - 1 }))
    .filter(({ index }) => !isInComment(source, index));
}

function isInComment(source: string, index: number): boolean {
  return IN_COMMENT.test(source.slice(source.lastIndexOf("\n", index - 1) + 1, index));
}

/** Checks every file of src/; ambient declarations (`.d.ts`) belong to no room. */
function checkTree(src: string): Violation[] {
  return [...new Bun.Glob("**/*.ts").scanSync(src)]
    .filter((file) => !file.endsWith(".d.ts"))
    .sort()
    .flatMap((file) => checkImports(file.replaceAll("\\", "/"), readFileSync(join(src, file), "utf8")));
}

if (import.meta.main) {
  const violations = checkTree(join(import.meta.dir, "../src"));
  for (const { file, line, message } of violations) console.error(`src/${file}:${line}: ${message}`);
  process.exit(violations.length > 0 ? 1 : 0);
}
