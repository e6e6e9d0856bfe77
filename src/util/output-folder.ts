// The private folder for outputs too long for a result, made when first needed.
import { existsSync } from "node:fs";
import { isInside } from "./paths.ts";
import { makeTempFolder, tempPathStart } from "./temp-folder.ts";

const name = "pi-ts-output";
let folder: string | undefined;

/** What the folder's path begins with; six characters follow, others in every run. */
export function outputPathStart(): string {
  return tempPathStart(name);
}

/** Its absolute path, with symlinks resolved. Throws the file system's error. */
export function outputFolder(): string {
  if (folder === undefined || !existsSync(folder)) folder = makeTempFolder(name);
  return folder;
}

/** Whether the real path is one of these outputs, which the model has seen a part of already. */
export function isOutput(realPath: string): boolean {
  return folder !== undefined && isInside(folder, realPath);
}
