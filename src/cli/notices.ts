// What the user is told of the command line and the configuration before a run, on stderr; nothing of it keeps the run from going on.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { foreignToolsIn } from "../app/permissions.ts";
import type { Config } from "../config/config.ts";
import { closest } from "../util/closest.ts";
import { log } from "../util/log.ts";
import { foreignArgs } from "./args.ts";
import type { CliContext } from "./command.ts";
import { commands } from "./commands.ts";
import type { RootFlags } from "./config-flags.ts";

export function noteForeignFlags(args: RootFlags): void {
  const given = Object.keys(foreignArgs).filter((name) => args[name as keyof RootFlags] !== undefined);
  if (given.length > 0) notify(`Without a meaning here: ${given.map((name) => `--${name}`).join(", ")}`);
}

/** A command's name with a slip in it would else be a task without a word. */
export function noteNearCommand({ words, literal, cwd }: CliContext): void {
  const [word = ""] = words;
  if (words.length !== 1 || literal > 0 || !/^[a-z]+$/i.test(word)) return;
  const near = closest(word, [...commands.keys()]);
  if (near && !existsSync(join(cwd, word))) notify(`pi-ts ${near} is a command; this runs '${word}' as a task`);
}

export function noteForeignTools({ permissions }: Config): void {
  const given = foreignToolsIn(permissions);
  if (given.length > 0) notify(`There are no such tools here: ${given.join(", ")}`);
}

export function notify(text: string): void {
  log().warn(text);
}
