// A temporary folder that goes away with its scope: `await using dir = tmp()`.
import { mkdtempSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TmpDir extends AsyncDisposable {
  /** Absolute, symlinks resolved. */
  readonly path: string;
  /** The absolute path of `name` in it; creates nothing. */
  file(name: string): string;
}

export function tmp(): TmpDir {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "pi-ts-test-")));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
