// The bash that commands run with: the one on the PATH, and on Windows the one that comes with Git.
import { existsSync } from "node:fs";
import { win32 } from "node:path";
import type { Environment } from "./environment.ts";
import { AppError } from "./error.ts";

/** Throws `AppError` `tool_fatal` on Windows where there is none; elsewhere starting it tells. */
export function findBash(env: Environment): string {
  if (process.platform !== "win32") return "bash";
  const found = findWindowsBash(env, existsSync);
  if (found !== undefined) return found;
  throw new AppError("tool_fatal", "Commands need bash, and Windows has none of its own", {
    hint: "Install Git for Windows, whose bash is found by itself, or put the folder of a bash.exe on the PATH. WSL's does not count.",
  });
}

/**
 * First on the PATH, then beside a git on the PATH, then where Git for Windows is installed by default. The bash.exe of Windows itself is WSL's,
 * where paths, programs and processes are those of another system.
 */
export function findWindowsBash(env: Environment, exists: (path: string) => boolean): string | undefined {
  const variables = new Map(Object.entries(env).map(([name, value]) => [name.toUpperCase(), value]));
  const system = (variables.get("SYSTEMROOT") ?? "C:\\Windows").toLowerCase();
  const folders = (variables.get("PATH") ?? "").split(win32.delimiter).filter(win32.isAbsolute);
  const own = folders.filter((folder) => !win32.normalize(folder).toLowerCase().startsWith(`${system}\\`));
  const gits = folders.filter((folder) => exists(win32.join(folder, "git.exe"))).map((folder) => win32.dirname(folder));
  const installed = ["PROGRAMFILES", "LOCALAPPDATA"].flatMap((name) => {
    const folder = variables.get(name);
    if (!folder) return [];
    return name === "LOCALAPPDATA" ? [win32.join(folder, "Programs", "Git")] : [win32.join(folder, "Git")];
  });
  const candidates = [...own, ...[...gits, ...installed].map((folder) => win32.join(folder, "bin"))];
  return candidates.map((folder) => win32.join(folder, "bash.exe")).find(exists);
}
