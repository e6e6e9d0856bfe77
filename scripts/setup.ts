// Installs the dependencies with the very Bun that runs this, and is done at once when node_modules already fits.
// Runs before anything is installed, so it imports nothing but Bun and Node parts.
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pkg from "../package.json";

const root = join(import.meta.dir, "..");
const stampFile = join(root, "node_modules/.pi-ts-setup");

/** What node_modules was made from; any change in it means installing again. */
function currentStamp(): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const file of ["package.json", "bun.lock"]) hash.update(readFileSync(join(root, file)));
  return `${Bun.version} ${process.platform}-${process.arch} ${hash.digest("hex")}\n`;
}

function isUpToDate(stamp: string): boolean {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
}

function install(): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile"], { cwd: root });
  if (exitCode === 0) return;
  fail(
    `${stdout}${stderr}setup: the dependencies could not be installed (bun install ended with ${exitCode}).\n` +
      "It needs the npm registry once; if package.json changed, `bun install` brings bun.lock in line.",
  );
}

/** The `bun` package is a stub until its postinstall ran, which a user's `ignore-scripts` prevents; package scripts would find it. */
function repairLocalBun(): void {
  const bin = join(root, "node_modules/.bin/bun");
  try {
    if (Bun.spawnSync([bin, "--version"]).stdout.toString().trim() === Bun.version) return;
  } catch {
    // Not runnable at all: replaced below.
  }
  rmSync(bin, { force: true });
  symlinkSync(process.execPath, bin);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

const pinned = pkg.packageManager.replace("bun@", "");
if (Bun.version !== pinned) {
  fail(`setup: this is Bun ${Bun.version}, and pi-ts is built with ${pinned}: use \`npx -y bun@${pinned} run …\``);
}
const stamp = currentStamp();
if (!isUpToDate(stamp)) {
  install();
  repairLocalBun();
  writeFileSync(stampFile, stamp);
}
