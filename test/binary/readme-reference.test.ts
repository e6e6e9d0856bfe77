// The README's tables of flags and exit codes beside what the program itself says.
import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "../helpers/run-cli.ts";

const readme = readFileSync(join(import.meta.dir, "../../README.md"), "utf8");
const flag = /(?<![\w-])--?[A-Za-z][a-z-]*/g;
const flagsIn = (text = ""): string[] => text.match(flag) ?? [];

/** The cells of a table's rows, from the row of its head on; a `\|` is a part of its cell. */
function table(head: string): string[][] {
  const rows = readme.slice(readme.indexOf(`\n${head}\n`) + 1).split("\n\n")[0]!;
  expect(rows).toStartWith(head);
  return rows
    .split("\n")
    .slice(2)
    .map((row) => row.split(/(?<!\\)\|/).slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

describe("--help and the README", () => {
  let help = "";
  beforeAll(async () => {
    const { stdout, code } = await runCli(["--help"]);
    expect(code).toBe(0);
    help = stdout;
  });
  const rows = table("| flag | meaning | default |");

  /** The flags as --help lists them: what stands in the left column, and their text, which may go on in further lines. */
  const options = () =>
    [...help.split("\nENVIRONMENT\n")[0]!.matchAll(/^ {2,6}(-.*?)(?: {2,}|$)(.*(?:\n {12,}\S.*)*)/gm)].map(
      ([, left, text]) => ({ names: flagsIn(left), text: text!.replaceAll(/\s+/g, " ") }),
    );

  test("have the same flags", () => {
    const declared = options().flatMap(({ names }) => names);
    const described = rows.flatMap(([left]) => flagsIn(left));
    expect(declared.length).toBeGreaterThan(60);
    expect(declared.filter((name) => !described.includes(name))).toEqual([]);
    // The opposite of a flag stands in the text of its help only.
    expect(described.filter((name) => !flagsIn(help).includes(name))).toEqual([]);
    expect(described.filter((name, i) => described.indexOf(name) !== i)).toEqual([]);
  });

  test("have the flags in the same groups", () => {
    const groups = help.split("\nENVIRONMENT\n")[0]!.split(/\n\n(?=[A-Z' ]+\n)/);
    const inHelp = groups.flatMap((group) => {
      const [heading = "", ...lines] = group.split("\n");
      const flags = lines.flatMap((line) => flagsIn(/^ {2,6}(-\S.*?)(?: {2,}|$)/.exec(line)?.[1]));
      return flags.map((name) => ({ name, group: heading.toLowerCase() }));
    });
    expect(inHelp.length).toBeGreaterThan(60);
    const inReadme = new Map<string, string>();
    let heading = "";
    for (const [left = ""] of rows) {
      heading = /^\*\*(.+)\*\*$/.exec(left)?.[1] ?? heading;
      for (const name of flagsIn(left)) inReadme.set(name, heading);
    }
    expect(inHelp.map(({ name }) => ({ name, group: inReadme.get(name) }))).toEqual(inHelp);
  });

  test("have the same defaults, where these are numbers", () => {
    const defaults = options().flatMap(({ names, text }) => {
      const [, value] = / \((\d+)\)$/.exec(text) ?? [];
      return value === undefined ? [] : [{ name: names.at(-1)!, default: value }];
    });
    expect(defaults.length).toBeGreaterThan(3);
    const inReadme = defaults.map(({ name }) => ({
      name,
      default: rows.find(([left]) => flagsIn(left).includes(name))?.[2],
    }));
    expect(inReadme).toEqual(defaults as typeof inReadme);
  });

  test("have the same exit codes", () => {
    const inHelp = help.split("\nEXIT CODES\n")[1]!.split("\n\n")[0]!;
    const told = inHelp.split(/\n {2}(?=\d)/).map((entry) => entry.trim().replaceAll(/\s+/g, " "));
    const rows = table("| code | meaning |").map(([left, meaning = ""]) => `${left} ${meaning.replaceAll("`", "")}`);
    // The README goes on behind a colon.
    expect(rows.map((row) => row.split(":")[0])).toEqual(told);
  });

  test("have the same commands", () => {
    const inHelp = [...help.matchAll(/^ {2}(pi-ts \w+) /gm)].map(([, command]) => command!);
    expect(inHelp.length).toBeGreaterThan(3);
    expect(inHelp.filter((command) => !readme.includes(command))).toEqual([]);
  });
});
