// The private folder for outputs too long for a result: made when first needed, readable by nobody else, gone with the program.
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInside } from "./paths.ts";

let folder: string | undefined;

/** What the folder's path begins with; six characters follow, others in every run. */
export function outputPathStart(): string {
  const parent = tmpdir();
  try {
    return join(realpathSync(parent), "pi-ts-output-");
  } catch {
    return join(parent, "pi-ts-output-");
  }
}

/** Its absolute path, with symlinks resolved. Throws the file system's error. */
export function outputFolder(): string {
  if (folder !== undefined && existsSync(folder)) return folder;
  // mkdtemp(3) makes it with mode 0700, and never takes one that is there already.
  const made = mkdtempSync(outputPathStart());
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  folder = made;
  return made;
}

/** Whether the real path is one of these outputs, which the model has seen a part of already. */
export function isOutput(realPath: string): boolean {
  return folder !== undefined && isInside(folder, realPath);
}
