// A line that begins like a command: its name, and what is known of one that there is not.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../app/app.ts";
import { closest } from "../util/closest.ts";
import { visibleLine } from "../util/sanitize.ts";

export interface CommandLine {
  readonly name: string;
  readonly args: string;
}

/** The name and arguments of a line that is a command: its first word is a slash and a name, such as `/skill:review`, and no path. */
export function parseCommand(line: string): CommandLine | undefined {
  const match = /^\/([\p{L}\p{N}_](?:[\p{L}\p{N}_.:-]*[\p{L}\p{N}_-])?)(?:\s+(.*))?$/su.exec(line);
  return match ? { name: match[1] ?? "", args: (match[2] ?? "").trim() } : undefined;
}

/** What is known of a name that is no command. */
export interface UnknownName {
  /** Why what the project has under this name does not count, in words. */
  readonly heldBack?: string;
  /** The nearest name that there is. */
  readonly near?: string | undefined;
  /** It is that of a file or folder of the working directory: many write a path from the project's root with a slash in front. */
  readonly isPath: boolean;
}

/** Undefined for a name that the app knows or that is a folder of the root; `own` are further names that there are. */
export async function findUnknown(
  line: string,
  name: string,
  app: App,
  own: readonly string[],
): Promise<UnknownName | undefined> {
  if (existsSync(`/${name}`) || (await app.knows(line))) return undefined;
  const file = await app.heldBack(line);
  if (file !== undefined) {
    const heldBack = `the project's ${visibleLine(file)} counts only when trusted (--trust-project does, for one run)`;
    return { heldBack, isPath: false };
  }
  const others = (await app.commands()).map((command) => command.name);
  const near = closest(name, [...own, ...others]);
  return { near, isPath: near === undefined && existsSync(join(app.session().cwd, name)) };
}
