// Changing the user's own config.toml, for commands that do so in the user's stead.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { homeFolder } from "../config/config.ts";
import { parseConfigFile, readConfigFile } from "../config/file.ts";
import { atomicWrite } from "../util/atomic-write.ts";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import { writePrivateFile } from "../util/private-file.ts";

/** Puts the text that `edit` makes of the file's in its place, and gives its path. Throws `AppError` for a file that is wrong, before or after. */
export async function editConfigFile(env: Environment, edit: (text: string) => string): Promise<string> {
  const path = join(homeFolder(env), "config.toml");
  const isThere = existsSync(path);
  const before = isThere ? readConfigFile(path) : "";
  if (isThere) parseConfigFile(before, path);
  const after = edit(before);
  parseConfigFile(after, path);
  try {
    // A file that is there may be a link, and keeps its mode.
    if (isThere) await atomicWrite(path, new TextEncoder().encode(after));
    else writePrivateFile(path, after);
  } catch (error) {
    throw new AppError("config", `Cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
  return path;
}
