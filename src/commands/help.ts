// `/help`: the commands, and the keys that are not to be guessed.
import type { Command } from "./command.ts";

const keys = [
  ["Enter", "send; Alt-Enter starts a new line"],
  ["Ctrl-C", "stop the answer and its tools; at the prompt, discard the input"],
  ["Up, Down", "earlier inputs"],
  ["Tab", "complete a command"],
] as const;

export const help: Command = {
  name: "help",
  summary: "Show this list",
  run({ commands }) {
    const rows = [
      ...commands.map(({ name, args, summary }) => [`/${name}${args ? ` ${args}` : ""}`, summary] as const),
      ...keys,
    ];
    const width = Math.max(...rows.map(([name]) => name.length));
    const lines = rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`);
    lines.splice(commands.length, 0, "");
    return { text: [...lines, "", "A space before a slash sends the line as text."].join("\n") };
  },
};
