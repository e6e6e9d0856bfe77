// Private folders for what is not to outlive the program: readable by nobody else, gone when it ends.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { exitOnSignals } from "./exit-on-signals.ts";

/** What the path of such a folder begins with, symlinks resolved; six characters follow, others in every run. */
export function tempPathStart(name: string): string {
  // Loaded where it is needed, which no start is.
  const { tmpdir } = require("node:os") as typeof import("node:os");
  const parent = tmpdir();
  try {
    return join(realpathSync(parent), `${name}-`);
  } catch {
    return join(parent, `${name}-`);
  }
}

/** Makes one; its absolute path, symlinks resolved. Throws the file system's error. */
export function makeTempFolder(name: string): string {
  // mkdtemp(3) makes it with mode 0700, and never takes one that is there already.
  const made = mkdtempSync(tempPathStart(name));
  process.on("exit", () => {
    try {
      rmSync(made, { recursive: true, force: true });
    } catch {
      // Somebody still writes there; that is no reason to end in another way.
    }
  });
  exitOnSignals();
  return made;
}
