// `/help`: the commands, the prompt templates and skills, and the keys that are not to be guessed.
import { oneLine } from "../util/truncate.ts";
import type { Command } from "./command.ts";

const keys = [
  ["Enter", "send; Alt-Enter starts a new line"],
  ["Ctrl-C", "stop the answer and its tools, as Escape does; at the prompt, discard the input"],
  ["Up, Down", "earlier inputs"],
  ["Tab", "complete a command"],
] as const;

export const help: Command = {
  name: "help",
  summary: "Show this list",
  async run({ app, commands }) {
    const own = new Set(commands.map(({ name }) => name));
    const resources = (await app.commands()).filter(({ name }) => !own.has(name));
    const groups: (readonly (readonly [string, string])[])[] = [
      commands.map(({ name, args, summary }) => [`/${name}${args ? ` ${args}` : ""}`, summary]),
      resources.map(({ name, description = "" }) => [`/${name}`, oneLine(description, 160)]),
      keys,
    ];
    const width = Math.max(...groups.flat().map(([name]) => name.length));
    const texts = groups
      .filter((rows) => rows.length > 0)
      .map((rows) => rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`.trimEnd()).join("\n"));
    return { text: [...texts, "A space before a slash sends the line as text."].join("\n\n") };
  },
};
