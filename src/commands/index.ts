// The slash commands, and how a line is told from one. `/help` and completion come from this list.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../app/app.ts";
import { closest } from "../util/closest.ts";
import { AppError } from "../util/error.ts";
import { clear } from "./clear.ts";
import type { Command, CommandResult, CommandUi } from "./command.ts";
import { compact } from "./compact.ts";
import { exit } from "./exit.ts";
import { exportPage } from "./export.ts";
import { fork } from "./fork.ts";
import { describeHeldBack } from "./held-back.ts";
import { help } from "./help.ts";
import { name } from "./name.ts";
import { newSession } from "./new.ts";
import { resume } from "./resume.ts";
import { save } from "./save.ts";
import { session } from "./session.ts";
import { tokens } from "./tokens.ts";
import { tree } from "./tree.ts";

export const commands: readonly Command[] = [
  newSession,
  clear,
  resume,
  name,
  save,
  session,
  fork,
  tree,
  tokens,
  compact,
  exportPage,
  help,
  exit,
];

/** The name and arguments of a line that is a command: its first word is a slash and a name, such as `/skill:review`, and no path. */
export function parseCommand(line: string): { readonly name: string; readonly args: string } | undefined {
  const match = /^\/([\p{L}\p{N}_](?:[\p{L}\p{N}_.:-]*[\p{L}\p{N}_-])?)(?:\s+(.*))?$/su.exec(line);
  return match ? { name: match[1] ?? "", args: (match[2] ?? "").trim() } : undefined;
}

const nobody: CommandUi = { pick: async () => undefined };

/** Runs a line that is a command; undefined when it is none, or the name of a prompt template, a skill, or a file or folder of the root or of the working directory. What goes wrong in expected ways is told in its text. */
export async function runCommand(line: string, app: App, ui: CommandUi = nobody): Promise<CommandResult | undefined> {
  const parsed = parseCommand(line);
  if (!parsed) return undefined;
  const command = commands.find(({ name }) => name === parsed.name);
  if (!command) {
    if (existsSync(`/${parsed.name}`) || (await app.knows(line))) return undefined;
    return answerUnknown(line, parsed.name, app);
  }
  try {
    return await command.run({ app, args: parsed.args, commands, ui });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { text: error.hint === undefined ? error.message : `${error.message}\n  ${error.hint}` };
  }
}

/** Every command that the text could become; `others` are the names, without a slash, of prompt templates and skills. */
export function completeCommand(text: string, others: readonly string[] = []): string[] {
  if (!/^\/[\w.:-]*$/.test(text)) return [];
  return [...commands.map(({ name }) => name), ...others]
    .map((name) => `/${name}`)
    .filter((word, position, words) => word.startsWith(text) && words.indexOf(word) === position);
}

async function answerUnknown(line: string, name: string, app: App): Promise<CommandResult | undefined> {
  const file = await app.heldBack(line);
  if (file !== undefined) {
    return {
      text: `There is no command /${name}: ${describeHeldBack(file)}. A space before the slash sends it as text.`,
    };
  }
  const near = closest(
    name,
    [...commands, ...(await app.commands())].map((command) => command.name),
  );
  // Many write a path from the project's root with a slash in front.
  if (near === undefined && existsSync(join(app.session().cwd, name))) return undefined;
  const hint = near === undefined ? "/help lists them." : `Did you mean /${near}?`;
  return { text: `There is no command /${name}. ${hint} A space before the slash sends it as text.` };
}
