// The slash commands. `/help` and completion come from this list.
import type { App } from "../app/app.ts";
import { AppError, describeError } from "../util/error.ts";
import { clear } from "./clear.ts";
import type { Command, CommandResult, CommandUi } from "./command.ts";
import { compact } from "./compact.ts";
import { exit } from "./exit.ts";
import { exportPage } from "./export.ts";
import { fork } from "./fork.ts";
import { help } from "./help.ts";
import { findUnknown, parseCommand } from "./line.ts";
import { model } from "./model.ts";
import { name } from "./name.ts";
import { newSession } from "./new.ts";
import { resume } from "./resume.ts";
import { save } from "./save.ts";
import { session } from "./session.ts";
import { thinking } from "./thinking.ts";
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
  model,
  thinking,
  tokens,
  compact,
  exportPage,
  help,
  exit,
];

const nobody: CommandUi = { pick: async () => undefined };

/** Runs a line that is a command; undefined when it is none, or the name of a prompt template, a skill, or a file or folder of the root or of the working directory. What goes wrong in expected ways is told in its text. */
export async function runCommand(line: string, app: App, ui: CommandUi = nobody): Promise<CommandResult | undefined> {
  const parsed = parseCommand(line);
  if (!parsed) return undefined;
  const command = commands.find(({ name }) => name === parsed.name);
  if (!command) return answerUnknown(line, parsed.name, app);
  try {
    return await command.run({ app, args: parsed.args, commands, ui });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { text: describeError(error) };
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
  const own = commands.map((command) => command.name);
  const unknown = await findUnknown(line, name, app, own);
  if (!unknown || unknown.isPath) return undefined;
  const { heldBack, near } = unknown;
  const hint = near === undefined ? "/help lists them." : `Did you mean /${near}?`;
  const why = heldBack === undefined ? `. ${hint}` : `: ${heldBack}.`;
  return { text: `There is no command /${name}${why} A space before the slash sends it as text.` };
}
