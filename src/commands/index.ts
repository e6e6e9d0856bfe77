// The slash commands, and how a line is told from one. `/help` and completion come from this list.
import type { App } from "../app/app.ts";
import { closest } from "../util/closest.ts";
import { clear } from "./clear.ts";
import type { Command, CommandResult } from "./command.ts";
import { exit } from "./exit.ts";
import { help } from "./help.ts";
import { tokens } from "./tokens.ts";

export const commands: readonly Command[] = [clear, tokens, help, exit];

/** The name and arguments of a line that is a command: its first word is a slash and a name, and no path. */
export function parseCommand(line: string): { readonly name: string; readonly args: string } | undefined {
  const match = /^\/([a-z-]+)(?:\s+(.*))?$/s.exec(line);
  return match ? { name: match[1] ?? "", args: (match[2] ?? "").trim() } : undefined;
}

/** Runs a line that is a command; undefined when it is none. */
export async function runCommand(line: string, app: App): Promise<CommandResult | undefined> {
  const parsed = parseCommand(line);
  if (!parsed) return undefined;
  const command = commands.find(({ name }) => name === parsed.name);
  return command ? command.run({ app, args: parsed.args, commands }) : { text: unknownCommand(parsed.name) };
}

/** Every command that the text could become. */
export function completeCommand(text: string): string[] {
  if (!/^\/[a-z-]*$/.test(text)) return [];
  return commands.map(({ name }) => `/${name}`).filter((word) => word.startsWith(text));
}

function unknownCommand(name: string): string {
  const near = closest(
    name,
    commands.map((command) => command.name),
  );
  const hint = near === undefined ? "/help lists them." : `Did you mean /${near}?`;
  return `There is no command /${name}. ${hint} A space before the slash sends it as text.`;
}
