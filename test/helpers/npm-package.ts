// Programs that tests drive come from the npm registry on demand: one package, without what it depends on, fetched once into a cache folder.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "pi-ts-test");
const fetchMs = 60_000;

export interface PackageRequest {
  readonly name: string;
  /** Exact. */
  readonly version: string;
  /** The file that is used, as a path in the package. */
  readonly file: string;
  /** Unpacks this file alone instead of all. */
  readonly alone?: boolean;
}

/** Where the file is, or why it cannot be had. */
export type Fetched = { readonly path: string } | { readonly missing: string };

export async function fetchPackage({ name, version, file, alone = false }: PackageRequest): Promise<Fetched> {
  const folder = join(cache, `${basename(name)}-${version}`);
  const path = join(folder, "package", file);
  if (existsSync(path)) return { path };
  const missing = (why: string) => ({ missing: `${name}@${version} cannot be had: ${why}` });
  const npm = Bun.which("npm");
  if (!npm) return missing("there is no npm to fetch it with");
  mkdirSync(cache, { recursive: true });
  const staging = mkdtempSync(join(cache, "fetch-"));
  try {
    // Its own waits would take over a minute where there is no network.
    const impatient = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
    const options = ["--loglevel=error", "--pack-destination", staging, ...impatient];
    const pack = await run([npm, "pack", `${name}@${version}`, ...options]);
    if (!pack.ok) return missing(`npm pack failed: ${pack.stderr.split("\n")[0] || "it took too long"}`);
    const archive = join(staging, pack.stdout);
    const tar = await run(["tar", "-xzf", archive, "-C", staging, ...(alone ? [`package/${file}`] : [])]);
    if (!tar.ok) return missing(`it cannot be unpacked: ${tar.stderr}`);
    rmSync(archive);
    renameSync(staging, folder);
  } catch (error) {
    // Another test run may have been faster.
    if (!existsSync(path)) return missing(String(error));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return existsSync(path) ? { path } : missing(`it has no ${file}`);
}

async function run(command: string[]): Promise<{ ok: boolean; stdout: string; stderr: string }> {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: fetchMs });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const ok = (await child.exited) === 0;
  return { ok, stdout: stdout.trim(), stderr: stderr.trim() };
}
