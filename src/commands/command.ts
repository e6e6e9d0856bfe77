// The slash command interface.
import type { App } from "../app/app.ts";

export interface CommandContext {
  readonly app: App;
  /** What follows the command's name, trimmed. */
  readonly args: string;
  /** All commands there are. */
  readonly commands: readonly Command[];
  readonly ui: CommandUi;
}

/** What a command may ask of the mode it runs in. */
export interface CommandUi {
  /**
   * Lets the user choose one of the rows; its position, or undefined when none was chosen or nobody can be asked. Of many rows the first ones
   * are shown, or the last ones.
   */
  pick(title: string, rows: readonly string[], from?: "start" | "end"): Promise<number | undefined>;
}

export interface CommandResult {
  /** For the user to read; whole lines, without an end. */
  readonly text?: string;
  /** What the next input begins with. */
  readonly input?: string;
  /** The conversation is another one now: its end is worth a look. */
  readonly recap?: boolean;
  /** The program is to end, well. */
  readonly exit?: boolean;
}

export interface Command {
  /** Without the slash; lower case letters and hyphens. */
  readonly name: string;
  /** One line for `/help`. */
  readonly summary: string;
  /** The shape of its arguments, for those that take any. */
  readonly args?: string;
  run(context: CommandContext): CommandResult | Promise<CommandResult>;
}
