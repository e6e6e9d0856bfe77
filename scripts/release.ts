// Builds the programs of a release for every platform, beside SHA256SUMS and manifest.json, and smoke-tests what this machine can run.
// The result depends on the commit and the system that builds it, and on nothing else: built again there, it is the same bytes.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import pkg from "../package.json";
import { compileUnlessEnded } from "./build.ts";
import { describeExecutable } from "./release/executable.ts";
import { signAdHoc } from "./release/mach-o.ts";
import {
  describeFile,
  describeSource,
  type Manifest,
  manifestName,
  type ReleasedFile,
  readManifest,
  sumsName,
  writeManifest,
} from "./release/manifest.ts";
import { findRuntime, loadRuntimes } from "./release/runtimes.ts";
import { type SmokeResult, smokeTest } from "./release/smoke.ts";
import { fileName, type Target, targets } from "./release/targets.ts";

const root = join(import.meta.dir, "..");
const usage = `bun run release [TARGET…] [--out FOLDER] [--base-url URL] [--no-smoke] [--smoke-only]

  TARGET        ${targets.map(({ name }) => name).join(", ")}; all when none is named
  --out         where the files go, in place of an earlier release (dist/release)
  --base-url    where users will find them; install.sh goes there of itself
  --no-smoke    build only
  --smoke-only  test what an earlier run has built`;

const installName = "install.sh";

/** What is in the folder is thrown away, so there must be nothing but an earlier release, or what one has begun. */
function checkPlace(folder: string): void {
  const ours = [...targets.map(fileName), sumsName, manifestName, installName];
  const found = existsSync(folder) ? readdirSync(folder) : [];
  const other = found.find((name) => !ours.includes(name) && !name.startsWith(".build-"));
  if (other !== undefined)
    throw new Error(`${folder} has ${other}, which is no part of a release: name another folder`);
}

/** Builds `wanted` into `folder`, which afterwards holds these files and no older ones. */
async function buildRelease(wanted: readonly Target[], folder: string, baseUrl: string): Promise<Manifest> {
  checkPlace(folder);
  const runtimes = loadRuntimes(wanted);
  const source = describeSource(root);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files: ReleasedFile[] = [];
  const builds = wanted.map((target) => describeBuild(target, runtimes.get(target.name)!, folder));
  await compileUnlessEnded(builds, "The release was ended.");
  for (const target of wanted) {
    sign(target, folder);
    files.push(describeFile(folder, fileName(target), target.name));
  }
  const manifest = { version: pkg.version, ...source, bun: Bun.version, files };
  writeManifest(folder, manifest);
  writeFileSync(join(folder, installName), installScript(baseUrl), { mode: 0o755 });
  return manifest;
}

function describeBuild(target: Target, runtime: string, folder: string) {
  const name = target.os === "windows" ? "pi-ts.exe" : "pi-ts";
  return { outfile: join(folder, fileName(target)), cross: { target: target.bunTarget, runtime, name } };
}

/** macOS runs nothing without a signature; where the compiler has left none, here it is made. */
function sign(target: Target, folder: string): void {
  const file = join(folder, fileName(target));
  if (target.os === "macos" && describeExecutable(file) !== target.format) {
    writeFileSync(file, signAdHoc(readFileSync(file), "pi-ts"));
  }
}

function installScript(baseUrl: string): string {
  if (/["$`\\]/.test(baseUrl)) throw new Error(`--base-url: not an address: ${baseUrl}`);
  const script = readFileSync(join(root, "scripts/install.sh"), "utf8");
  return script.replace(/^default_base_url=""$/m, `default_base_url="${baseUrl}"`);
}

async function smokeTestAll(
  manifest: Manifest,
  wanted: readonly Target[],
  folder: string,
): Promise<Map<string, SmokeResult>> {
  const scratch = mkdtempSync(join(tmpdir(), "pi-ts-smoke-"));
  try {
    const results = new Map<string, SmokeResult>();
    for (const target of wanted) {
      if (!manifest.files.some((file) => file.target === target.name)) continue;
      results.set(target.name, await smokeTest(target, folder, manifest.version, scratch, findRuntime(target)));
    }
    return results;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** One row a file, columns aligned. */
function formatTable(manifest: Manifest, results: ReadonlyMap<string, SmokeResult>): string {
  const rows = manifest.files.map(({ name, target, size, sha256 }) => {
    const result = results.get(target);
    const smoke = result ? `${result.status}: ${result.detail}` : "not asked for";
    return [name, `${(size / 1e6).toFixed(1)} MB`, sha256.slice(0, 12), smoke];
  });
  const table = [["file", "size", "sha256", "smoke test"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  return table
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function parseCommandLine(argv: string[]) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      out: { type: "string", default: join(root, "dist/release") },
      "base-url": { type: "string", default: "" },
      "no-smoke": { type: "boolean", default: false },
      "smoke-only": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const unknown = positionals.filter((name) => !targets.some((target) => target.name === name));
  if (unknown.length > 0) throw new Error(`no such target: ${unknown.join(", ")}\n${usage}`);
  const wanted = targets.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  return { ...values, folder: resolve(values.out), wanted };
}

async function main(argv: string[]): Promise<number> {
  const options = parseCommandLine(argv);
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const { folder, wanted } = options;
  const manifest = options["smoke-only"]
    ? readManifest(folder)
    : await buildRelease(wanted, folder, options["base-url"]);
  const results = options["no-smoke"] ? new Map<string, SmokeResult>() : await smokeTestAll(manifest, wanted, folder);
  console.log(`pi-ts ${manifest.version}, commit ${manifest.commit}, ${manifest.date}, Bun ${manifest.bun}: ${folder}`);
  console.log(formatTable(manifest, results));
  return [...results.values()].some(({ status }) => status === "FAILED") ? 1 : 0;
}

if (import.meta.main) {
  try {
    process.exit(await main(process.argv.slice(2)));
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
