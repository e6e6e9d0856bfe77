// ripgrep as a quick first look: it names the files that hold a text, so that only these are searched here.
// What is found is decided elsewhere, by the same code with and without it, so its version and settings cannot change a result.
import { realpathSync } from "node:fs";
import type { Environment } from "../../util/environment.ts";
import { findProgram } from "../../util/find-program.ts";
import { killGroup, spawnGroup } from "../../util/process-group.ts";
import type { RequiredTexts } from "./required-texts.ts";

/** The files among `files` (below `folder`) that may hold one of the texts; all of them when ripgrep cannot tell. */
export type FirstLook = (
  folder: string,
  files: readonly string[],
  texts: RequiredTexts,
  signal: AbortSignal,
) => Promise<readonly string[]>;

/** Undefined where there is no ripgrep that is used. */
export function findRipgrep(env: Environment, cwd: string): FirstLook | undefined {
  const program = locateRipgrep(env, cwd);
  if (program === undefined) return undefined;
  return (folder, files, texts, signal) => filesHolding(program, folder, files, texts, signal);
}

/** The ripgrep that is used: searching must not start a project's programs. */
export function locateRipgrep(env: Environment, cwd: string): string | undefined {
  try {
    return findProgram("rg", env.PATH ?? env.Path, realpathSync(cwd));
  } catch {
    return undefined;
  }
}

async function filesHolding(
  program: string,
  folder: string,
  files: readonly string[],
  { texts, ignoreCase }: RequiredTexts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Where the kernel makes files up, a reader may have to wait.
  if (/^\/(?:proc|sys|dev)(?:\/|$)/.test(folder)) return files;
  // Bytes are compared as they are: no guesses about encodings or binary files.
  const options = ["--no-config", "--files-with-matches", "--null", "--fixed-strings", "--text", "--encoding=none"];
  const looked = await run(
    [
      program,
      ...options,
      ignoreCase ? "--ignore-case" : "--case-sensitive",
      ...texts.map((text) => `--regexp=${text}`),
      "--",
      ...files.map((file) => `./${file}`),
    ],
    folder,
    signal,
  );
  if (looked === undefined) return files;
  const named = new Set(looked.split("\0").map((name) => name.replace(/^\.\//, "")));
  return files.filter((file) => named.has(file));
}

/** What the command prints; undefined when it fails or cannot be started. */
async function run(command: string[], cwd: string, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  try {
    const child = spawnGroup(command, { cwd, env: {}, output: "pipe" });
    const kill = () => killGroup(child.pid, "SIGKILL");
    signal.addEventListener("abort", kill);
    try {
      const [output, { code }] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      // 1 means that nothing was found, 2 that some file could not be read.
      return code <= 1 ? output : undefined;
    } finally {
      signal.removeEventListener("abort", kill);
    }
  } catch {
    return undefined;
  }
}
