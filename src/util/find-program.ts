// A program on the PATH that is run although nobody was asked.
import { realpathSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";
import { isInside } from "./paths.ts";

/**
 * Its absolute path; undefined where there is none. One that lies in the working directory, or leads there, is passed over: it may be the
 * project's, or made by a command.
 */
export function findProgram(name: string, path: string | undefined, realCwd: string): string | undefined {
  for (const folder of (path ?? "").split(delimiter).filter(isAbsolute)) {
    const program = Bun.which(name, { PATH: folder });
    if (program !== null && ![folder, program].some((place) => isInside(realCwd, realpathSync(place)))) return program;
  }
  return undefined;
}
