// The slash command interface.
import type { App } from "../app/app.ts";

export interface CommandContext {
  readonly app: App;
  /** What follows the command's name, trimmed. */
  readonly args: string;
  /** All commands there are. */
  readonly commands: readonly Command[];
}

export interface CommandResult {
  /** For the user to read; whole lines, without an end. */
  readonly text?: string;
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
