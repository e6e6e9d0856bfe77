// What a command of the command line is: citty's description of it, and the code that runs it.
import type { ArgsDef, CommandMeta } from "citty";
import type { Environment } from "../config/config.ts";
import type { Io } from "../modes/io.ts";
import type { ParsedFlags } from "./parse-args.ts";

/** What every command gets beside its flags. */
export interface CliContext {
  readonly io: Io;
  readonly env: Environment;
  /** The working directory at start. */
  readonly cwd: string;
  /** The words that are not flags, in order. */
  readonly words: readonly string[];
}

export interface CliCommand<Args extends ArgsDef = ArgsDef> {
  readonly meta: CommandMeta;
  readonly args: Args;
  /** Gives the exit code; throws `AppError` for what ends it. */
  run(flags: ParsedFlags<Args>, context: CliContext): Promise<number>;
}

export function defineCommand<const Args extends ArgsDef>(command: CliCommand<Args>): CliCommand<Args> {
  return command;
}
