// What a command of the command line is: citty's description of it, and the code that runs it.
import type { CommandMeta } from "citty";
import type { Io } from "../modes/io.ts";
import type { Environment } from "../util/environment.ts";
import type { FlagsDef, ParsedFlags, ParsedWords } from "./parse-args.ts";

/** What every command gets beside its flags. */
export interface CliContext extends ParsedWords {
  readonly io: Io;
  readonly env: Environment;
  /** The working directory at start. */
  readonly cwd: string;
}

export interface CliCommand<Args extends FlagsDef = FlagsDef> {
  readonly meta: CommandMeta;
  readonly args: Args;
  /** Gives the exit code; throws `AppError` for what ends it. */
  run(flags: ParsedFlags<Args>, context: CliContext): Promise<number>;
}

/** A command whatever its flags are. */
// biome-ignore lint/suspicious/noExplicitAny: a command is only ever given the flags it described itself
export type AnyCommand = CliCommand<any>;

export function defineCommand<const Args extends FlagsDef>(command: CliCommand<Args>): CliCommand<Args> {
  return command;
}
