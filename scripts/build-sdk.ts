// Builds dist/sdk, what the npm package holds: ES modules with their types for Node and Bun, one file for each of src/ that index.ts or protocol/
// lead to. It compiles against Node's types and the library of Node 20 alone, so an API of Bun's or of a later Node fails the build.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const folder = join(root, "dist/sdk");

/** Throws with the compiler's output. The folder appears whole, or stays as it was. */
export async function buildSdk(): Promise<void> {
  mkdirSync(join(root, "dist"), { recursive: true });
  const staging = mkdtempSync(join(root, "dist/.sdk-"));
  try {
    const tsc = [process.execPath, "node_modules/typescript/bin/tsc", "-p", "scripts/tsconfig.sdk.json"];
    const build = Bun.spawn([...tsc, "--outDir", staging], {
      cwd: root,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, code] = await Promise.all([build.stdout.text(), build.stderr.text(), build.exited]);
    if (code !== 0) throw new Error(`tsc ended with ${code}\n${stdout}${stderr}`);
    for (const file of new Bun.Glob("**/*.d.ts").scanSync(staging)) completeDeclarations(join(staging, file));
    rmSync(folder, { recursive: true, force: true });
    renameSync(staging, folder);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * tsc leaves the imports of `.ts` files in declarations as they are, and those files are not in the package; and it leaves it to every
 * project to know `Symbol.asyncDispose`.
 */
function completeDeclarations(path: string): void {
  const text = readFileSync(path, "utf8").replace(/(\b(?:from|import\()\s*"\.[^"]*)\.ts"/g, '$1.js"');
  const disposes = /\[Symbol\.asyncDispose\]|\bAsyncDisposable\b/.test(text);
  writeFileSync(path, disposes ? `/// <reference lib="esnext.disposable" />\n${text}` : text);
}

if (import.meta.main) {
  const start = Bun.nanoseconds();
  try {
    await buildSdk();
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
  console.error(`dist/sdk in ${((Bun.nanoseconds() - start) / 1e9).toFixed(1)} s`);
}
