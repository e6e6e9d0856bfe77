// Whoever uses the package reads its types, so everything that it exports says what it is.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The module and those it passes on from. */
function modulesFrom(path: string): string[] {
  const passedOn = [...readFileSync(path, "utf8").matchAll(/^export [^;]*? from "(\.[^"]+)";/gm)];
  return [path, ...passedOn.flatMap(([, name = ""]) => modulesFrom(join(dirname(path), name)))];
}

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|class|interface|type|function\*?) (\w+)(.*)$/;

/** Exports without a comment; the type of a schema has that of the schema. */
function bare(path: string): string[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.flatMap((line, at) => {
    const [, name, rest] = declaration.exec(line) ?? [];
    if (name === undefined || rest === ` = z.infer<typeof ${name}>;` || lines[at - 1]?.trimEnd().endsWith("*/"))
      return [];
    return [`${path}: ${name}`];
  });
}

test("everything that the package exports has a comment", () => {
  const modules = new Set(modulesFrom(join(import.meta.dir, "../../src/index.ts")));
  expect(modules.size).toBeGreaterThan(15);
  expect([...modules].flatMap(bare)).toEqual([]);
});
