// What CI reads and refuses: the counts of a test run, and imports that point up.
import { describe, expect, test } from "bun:test";
import { parseCounts } from "../../scripts/check.ts";
import { checkImports } from "../../scripts/check-imports.ts";

describe("the counts of a test run", () => {
  const counts = (passed: number, failed: number, skipped = 0) => ({ passed, failed, skipped });
  test.each<[string, string, ReturnType<typeof parseCounts>]>([
    ["all passed", " 12 pass\n 0 fail\n 30 expect() calls\nRan 12 tests across 3 files. [1.00s]\n", counts(12, 0)],
    ["one test", " 1 pass\n 0 fail\nRan 1 test across 1 file. [1ms]", counts(1, 0)],
    ["some failed", " 10 pass\n 2 fail\nRan 12 tests across 3 files. [1.00s]", counts(10, 2)],
    ["some skipped", " 9 pass\n 1 skip\n 1 todo\n 1 fail\nRan 12 tests across 3 files. [1.00s]", counts(9, 1, 2)],
    [
      "what a test printed does not count",
      " 99 pass\nRan 99 tests across 9 files. [1s]\n\n 2 pass\n 0 fail\nRan 2 tests across 1 file. [1s]",
      counts(2, 0),
    ],
    ["that do not add up", " 10 pass\n 0 fail\nRan 12 tests across 3 files. [1.00s]", undefined],
    ["without an end", " 10 pass\n 0 fail\n", undefined],
    ["without counts", "Ran 12 tests across 3 files. [1.00s]", undefined],
    ["of nothing", "", undefined],
  ])("%s", (_name, output, expected) => {
    expect(parseCounts(output)).toEqual(expected as never);
  });
});

describe("imports", () => {
  const lines = (file: string, source: string) =>
    checkImports(file, source).map(({ line, message }) => `${line}: ${message}`);

  test.each<[string, string, string]>([
    ["within a room", "agent/loop.ts", 'import { a } from "./retry.ts";'],
    [
      "down to the floor",
      "agent/loop.ts",
      'import type { A } from "../protocol/event.ts";\nimport { b } from "../util/error.ts";',
    ],
    [
      "an interface that the room may know",
      "agent/loop.ts",
      'import type { Provider } from "../providers/provider.ts";',
    ],
    ["a package where packages are allowed", "tools/edit.ts", 'import { diff } from "diff";'],
    ["the package's own description", "util/version.ts", 'import pkg from "../../package.json";'],
    ["a lazy import with a literal path", "app/app.ts", 'const { a } = await import("../providers/http.ts");'],
    ["words in a comment", "agent/loop.ts", '// import { a } from "../app/app.ts";\n// Bun.write(x)'],
  ])("%s are fine", (_name, file, source) => {
    expect(lines(file, source)).toEqual([]);
  });

  test.each<[string, string, string, string[]]>([
    ["up", "providers/http.ts", '\nimport { app } from "../app/app.ts";', ["2: providers does not know app/app.ts"]],
    [
      "up, of a type alone",
      "util/log.ts",
      'import type { A } from "../protocol/event.ts";',
      ["1: util does not know protocol/event.ts"],
    ],
    [
      "up, as a re-export",
      "tools/tool.ts",
      'export * from "../agent/loop.ts";',
      ["1: tools does not know agent/loop.ts"],
    ],
    ["up, lazily", "config/config.ts", 'await import("../cli/main.ts");', ["1: config does not know cli/main.ts"]],
    [
      "of a file whose interface alone is known",
      "agent/loop.ts",
      'import { a } from "../providers/http.ts";',
      ["1: agent does not know providers/http.ts"],
    ],
    [
      "over several lines",
      "tools/tool.ts",
      'import {\n  a,\n} from "../app/app.ts";',
      ["3: tools does not know app/app.ts"],
    ],
    [
      "out of src",
      "app/app.ts",
      'import x from "../../scripts/build.ts";',
      ["1: ../../scripts/build.ts leads out of src"],
    ],
    [
      "of a package where none are allowed",
      "agent/loop.ts",
      'import * as z from "zod";',
      ["1: agent does not import zod"],
    ],
    ["with a path that is no literal", "app/app.ts", "await import(path);", ["1: import() needs a literal path"]],
    ["in a room that is none", "extras/a.ts", "", ["1: src/extras is no room of the house"]],
    [
      "and globals that a room leaves alone",
      "agent/loop.ts",
      "\nBun.write(a);\nprocess.exit(1);",
      ["2: agent does not use Bun", "3: agent does not use process"],
    ],
  ])("%s are told", (_name, file, source, expected) => {
    expect(lines(file, source)).toEqual(expected);
  });
});
