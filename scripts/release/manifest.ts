// The two files that go beside the programs of a release: what they are, and their sums in the form `sha256sum -c` reads.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const sumsName = "SHA256SUMS";
export const manifestName = "manifest.json";

export interface ReleasedFile {
  readonly name: string;
  readonly target: string;
  /** In bytes. */
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

export interface Manifest {
  readonly version: string;
  readonly commit: string;
  /** ISO 8601, UTC: `SOURCE_DATE_EPOCH`, else the commit's. */
  readonly date: string;
  readonly bun: string;
  readonly files: readonly ReleasedFile[];
}

export function describeFile(folder: string, name: string, target: string): ReleasedFile {
  const bytes = readFileSync(join(folder, name));
  return { name, target, size: bytes.length, sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex") };
}

export function writeManifest(folder: string, manifest: Manifest): void {
  const sums = manifest.files.map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  writeFileSync(join(folder, sumsName), sums.join(""));
  writeFileSync(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The manifest of a folder whose files are what it says; throws naming the first that is not. */
export function readManifest(folder: string): Manifest {
  const manifest = JSON.parse(readFileSync(join(folder, manifestName), "utf8")) as Manifest;
  for (const { name, target, sha256 } of manifest.files) {
    if (describeFile(folder, name, target).sha256 !== sha256) throw new Error(`${name} is not what the manifest says`);
  }
  return manifest;
}

/** The commit that `root` is at, with `-dirty` behind it when tracked files differ, and the date of the release. */
export function describeSource(root: string, epoch = process.env.SOURCE_DATE_EPOCH): Pick<Manifest, "commit" | "date"> {
  const isDirty = git(root, "status", "--porcelain", "--untracked-files=no") !== "";
  const seconds = epoch ?? git(root, "log", "-1", "--format=%ct");
  if (!/^\d+$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH is no number of seconds: ${seconds}`);
  return {
    commit: `${git(root, "rev-parse", "HEAD")}${isDirty ? "-dirty" : ""}`,
    date: new Date(Number(seconds) * 1000).toISOString(),
  };
}

function git(root: string, ...words: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", "-C", root, ...words]);
  if (exitCode !== 0) throw new Error(`git ${words[0]} failed: ${stderr.toString().trim()}`);
  return stdout.toString().trim();
}
