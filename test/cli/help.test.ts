import { expect, test } from "bun:test";
import type { AnyCommand } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands.ts";
import { renderHelp } from "../../src/cli/help.ts";
import type { FlagsDef } from "../../src/cli/parse-args.ts";
import { root } from "../../src/cli/root.ts";

const loaded = [...commands].map(async ([name, load]): Promise<[string, AnyCommand]> => [name, await load()]);

test.each([["", root], ...(await Promise.all(loaded))] as [string, AnyCommand][])(
  "the help of pi-ts %s keeps its columns",
  (name, command) => {
    const help = renderHelp(command, name !== "");
    const lines = help.split("\n");
    expect(lines.filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
    expect(lines.filter((line) => /^ {1,8}-/.test(line) && !/^ {2}( {4}|-\w{1,3}, )--\w/.test(line))).toEqual([]);
    expect(help).not.toContain("\n\n\n");
  },
);

test("an alias of one dash stands before the long name, any other behind it", () => {
  const args = {
    name: { type: "string", alias: ["n", "title"], valueHint: "text", description: "What it is called" },
    other: { type: "boolean", alias: "another", description: "Something else" },
  } satisfies FlagsDef;
  expect(renderHelp({ meta: { name: "do", description: "Does it" }, args }, true)).toBe(
    `Does it

USAGE
  pi-ts do [OPTIONS]

OPTIONS
  -n, --name, --title TEXT      What it is called
      --other, --another        Something else
`,
  );
});
