// A text for the system prompt as the command line gives it: itself, or the file that has it.
import { readFileSync, statSync } from "node:fs";
import { AppError } from "../util/error.ts";
import { resolvePath } from "../util/paths.ts";

/** What can be a path at all; the system refuses longer ones. */
const longestPath = 4096;

/**
 * The content of the file of this name (relative to `cwd`), or the text itself where there is none. Throws `AppError` `usage` for a file that
 * cannot be read or is no text, and for what can only be meant as a file and is none.
 */
export function textOrFile(value: string, cwd: string): string {
  if (value === "" || value.length > longestPath || /[\n\0]/.test(value)) return value;
  const path = resolvePath(cwd, value);
  if (!isFile(path)) {
    if (looksLikePath(value)) throw cannotRead(path, "there is no such regular file");
    return value;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw cannotRead(path, error instanceof TypeError ? "it is not UTF-8 text" : (error as Error).message, error);
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** One word that begins or ends as only a path does. */
function looksLikePath(value: string): boolean {
  return !/\s/.test(value) && (/^(\.{0,2}|~)\/./.test(value) || /\.(md|txt)$/i.test(value));
}

function cannotRead(path: string, why: string, cause?: unknown): AppError {
  return new AppError("usage", `Cannot read ${path}: ${why}`, {
    hint: "A system prompt is a text or a regular file; a text that looks like a path is one with a blank at its end.",
    cause,
  });
}
