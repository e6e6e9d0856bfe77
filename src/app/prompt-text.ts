// A text for the system prompt as the command line gives it: itself, or the file that has it.
import { readFileSync, statSync } from "node:fs";
import { AppError } from "../util/error.ts";
import { resolvePath } from "../util/paths.ts";

/** What can be a path at all; the system refuses longer ones. */
const longestPath = 4096;

/** The content of the file of this name (relative to `cwd`), or the text itself where there is none. Throws `AppError` `usage` for a file that cannot be read. */
export function textOrFile(value: string, cwd: string): string {
  if (value === "" || value.length > longestPath || /[\n\0]/.test(value)) return value;
  const path = resolvePath(cwd, value);
  try {
    if (!statSync(path).isFile()) return value;
  } catch {
    return value;
  }
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("usage", `Cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}
