// Trees of files for tests.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type TmpDir, tmp } from "./tmp.ts";

/** A path below the folder with its content; a link where the value names one; an empty folder for `null`. */
export type Tree = Readonly<Record<string, string | Uint8Array | { readonly link: string } | null>>;

/** A temporary folder with this tree; it goes away with its scope. */
export function plant(tree: Tree): TmpDir {
  const dir = tmp();
  for (const [path, content] of Object.entries(tree)) {
    const absolute = dir.file(path);
    mkdirSync(content === null ? absolute : dirname(absolute), { recursive: true });
    if (content === null) continue;
    if (typeof content === "object" && "link" in content) symlinkSync(content.link, absolute);
    else writeFileSync(absolute, content);
  }
  return dir;
}
