// A program on the PATH that is run although nobody was asked.
import { realpathSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { isInside } from "./paths.ts";

/**
 * Its absolute path, links on the way to its folder followed; undefined where there is none. One that lies in the working directory, or leads
 * there, is passed over: it may be the project's, or made by a command.
 */
export function findProgram(name: string, path: string | undefined, realCwd: string): string | undefined {
  for (const folder of (path ?? "").split(delimiter).filter(isAbsolute)) {
    const found = Bun.which(name, { PATH: folder });
    if (found === null) continue;
    // Under the name that was found, which may tell the program what it is.
    const program = join(realpathSync(folder), basename(found));
    if (![program, realpathSync(program)].some((place) => isInside(realCwd, place))) return program;
  }
  return undefined;
}
