// `pi-ts completions`: a script that makes a shell complete command lines, made from the definitions of the commands themselves.
import { closest } from "../../util/closest.ts";
import { AppError } from "../../util/error.ts";
import { defineCommand } from "../command.ts";
import { commands } from "../commands.ts";
import { toBash } from "./bash.ts";
import { toFish } from "./fish.ts";
import { type CommandSpec, describeCommand } from "./spec.ts";
import { listValues, valueSources } from "./values.ts";
import { toZsh } from "./zsh.ts";

const shells: Readonly<Record<string, (root: CommandSpec, commands: readonly CommandSpec[]) => string>> = {
  bash: toBash,
  zsh: toZsh,
  fish: toFish,
};
const names = Object.keys(shells);
const choice = `It is one of ${names.join(", ")}.`;

export const completions = defineCommand({
  meta: { name: "completions", description: "Print what makes bash, zsh or fish complete command lines" },
  args: {
    shell: { type: "positional", required: false, complete: names, description: "bash, zsh or fish" },
    values: {
      type: "string",
      valueHint: "kind",
      complete: valueSources,
      description: `For the scripts: list what the word behind it could become: ${valueSources.join(", ")}`,
    },
    help: { type: "boolean", alias: "h", description: "Print this help and exit" },
  },
  async run(args, { io, env, cwd, words }) {
    if (args.values !== undefined) {
      const source = valueSources.find((name) => name === args.values);
      if (!source)
        throw new AppError("usage", `--values must be one of ${valueSources.join(", ")}, not '${args.values}'`);
      const [word = "", ...before] = words;
      const rows = await listValues(source, word, { env, cwd, before });
      io.stdout(rows.map(({ value, note }) => `${value}\t${note}\n`).join(""));
      return 0;
    }
    const [shell, ...more] = words;
    if (shell === undefined || more.length > 0) throw usage("pi-ts completions takes the name of one shell");
    const make = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
    if (!make) {
      const near = closest(shell, names);
      throw usage(`There are no completions for '${shell}'`, near && `Did you mean ${near}? ${choice}`);
    }
    io.stdout(make(...(await describeAll())));
    return 0;
  },
});

async function describeAll(): Promise<[CommandSpec, CommandSpec[]]> {
  const { root } = await import("../root.ts");
  const others = [...commands].map(async ([name, load]) => describeCommand(name, await load()));
  return [describeCommand("", root), await Promise.all(others)];
}

function usage(message: string, hint = choice): AppError {
  return new AppError("usage", message, { hint });
}
