// The Bun program of each platform, as npm packages whose version and hash scripts/release/runtimes/bun.lock pins.
// What the project has installed for itself is used as it is; the others are installed beside that lock file when first needed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import pkg from "../../package.json";
import runtimesPkg from "./runtimes/package.json";
import type { Target } from "./targets.ts";

const folder = join(import.meta.dir, "runtimes");
const ownModules = join(import.meta.dir, "../../node_modules");

export interface RuntimeSource {
  /** A folder with runtimes/package.json and its lock file. */
  readonly folder: string;
  /** For the package manager. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The path of each target's Bun, by the target's name. Throws one error that names all that could not be had. */
export function loadRuntimes(
  wanted: readonly Target[],
  source: RuntimeSource = { folder, env: process.env },
): Map<string, string> {
  checkVersions();
  const find = (target: Target) => findRuntime(target, source.folder);
  const isMissing = (target: Target) => find(target) === undefined;
  const reason = wanted.some(isMissing) ? install(source) : "";
  const missing = wanted.filter(isMissing);
  if (missing.length > 0) {
    const packages = missing.map(({ name, runtime }) => `  ${name}: ${runtime}@${Bun.version}`).join("\n");
    throw new Error(
      `no Bun for these targets could be had from the npm registry:\n${packages}\n${reason}` +
        `Build the others by naming them, or put the packages into ${join(source.folder, "node_modules")}.`,
    );
  }
  return new Map(wanted.map((target) => [target.name, find(target)!]));
}

/** The program compiled has the runtime's version, and bytecode that only this very version reads. */
function checkVersions(): void {
  const pinned = pkg.packageManager.replace("bun@", "");
  const others = Object.entries(runtimesPkg.optionalDependencies).filter(([, version]) => version !== pinned);
  if (others.length > 0 || Bun.version !== pinned) {
    const found = [`this Bun ${Bun.version}`, ...others.map((other) => other.join(" "))].join(", ");
    throw new Error(`a release is built with Bun ${pinned} alone, not with ${found}`);
  }
}

/** Without asking the network. */
export function findRuntime({ runtime, os }: Target, place: string = folder): string | undefined {
  const program = os === "windows" ? "bin/bun.exe" : "bin/bun";
  return [ownModules, join(place, "node_modules")].map((modules) => join(modules, runtime, program)).find(existsSync);
}

/** Installs for all platforms, since each install makes node_modules fit its own flags; what the package manager had to complain about. */
function install({ folder: cwd, env }: RuntimeSource): string {
  const flags = ["--frozen-lockfile", "--ignore-scripts", "--os=*", "--cpu=*", "--libc=*"];
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "install", ...flags], {
    cwd,
    env,
    stdin: "ignore",
    timeout: 15 * 60_000,
  });
  return exitCode === 0 ? "" : `bun install ended with ${exitCode}: ${stderr.toString().trim()}\n`;
}
