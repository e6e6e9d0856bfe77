// A release: pinned runtimes, the right program under each name, sums that fit, and the same bytes from the same commit.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pkg from "../../package.json";
import { describeExecutable } from "../../scripts/release/executable.ts";
import { signAdHoc, signatureState } from "../../scripts/release/mach-o.ts";
import { describeSource, readManifest, writeManifest } from "../../scripts/release/manifest.ts";
import { loadRuntimes } from "../../scripts/release/runtimes.ts";
import { fileName, targets } from "../../scripts/release/targets.ts";
import { tmp } from "../helpers/tmp.ts";

setDefaultTimeout(120_000);

const root = join(import.meta.dir, "../..");
const runtimes = join(root, "scripts/release/runtimes");

async function release(args: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, join(root, "scripts/release.ts"), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code: child.exitCode, stdout, stderr };
}

describe("the runtimes", () => {
  const lock = (folder: string) =>
    [...readFileSync(join(folder, "bun.lock"), "utf8").matchAll(/\["(@oven\/[^@]+@[^"]+)".*"(sha512-[^"]+)"\]/g)].map(
      ([, name, hash]) => `${name} ${hash}`,
    );

  test("are one for each target, of the pinned version, with the hashes the project's own lock has", () => {
    const version = pkg.packageManager.replace("bun@", "");
    const locked = lock(runtimes);
    expect(locked.map((line) => line.split(" ")[0]!).sort()).toEqual(
      targets.map(({ runtime }) => `${runtime}@${version}`).sort(),
    );
    const own = lock(root).filter((line) => locked.some((other) => other.split(" ")[0] === line.split(" ")[0]));
    expect(own.length).toBeGreaterThan(5);
    expect(locked).toEqual(expect.arrayContaining(own));
  });

  test("that cannot be had are one error that names them and says what to do", async () => {
    await using dir = tmp();
    for (const name of ["package.json", "bun.lock"]) copyFileSync(join(runtimes, name), dir.file(name));
    const env = { ...process.env, BUN_CONFIG_REGISTRY: "http://127.0.0.1:1", BUN_INSTALL_CACHE_DIR: dir.file("cache") };
    const foreign = targets.filter(({ os }) => os === "windows" || os === "macos").filter(({ os }) => os !== hostOs());
    const load = () => loadRuntimes(foreign, { folder: dir.path, env });
    const name = `  windows-x64: @oven/bun-windows-x64@${Bun.version}\n`;
    expect(load).toThrow(new RegExp(`${RegExp.escape(name)}[^]*${RegExp.escape(`into ${dir.file("node_modules")}`)}`));
  });
});

function hostOs(): string {
  return { darwin: "macos", win32: "windows" }[process.platform as string] ?? process.platform;
}

describe("release.ts", () => {
  const target = targets.find(({ format }) => format === describeExecutable(process.execPath))!;

  test("builds this platform's program, the same bytes twice, with sums, manifest, install script and smoke test", async () => {
    await using dir = tmp();
    const env = { SOURCE_DATE_EPOCH: "1700000000" };
    const one = [target.name, "--out", dir.file("one"), "--base-url", "https://example.org/v1"];
    const two = [target.name, "--out", dir.file("two"), "--no-smoke"];
    const [{ code, stdout, stderr }] = await Promise.all([release(one, env), release(two, env)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^${fileName(target)} +\\d+\\.\\d MB +[0-9a-f]{12} +ok: here$`, "m"));

    const manifest = JSON.parse(readFileSync(dir.file("one/manifest.json"), "utf8"));
    const bytes = readFileSync(dir.file(`one/${fileName(target)}`));
    const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    expect(manifest).toEqual({
      version: pkg.version,
      commit: expect.stringMatching(/^[0-9a-f]{40}(-dirty)?$/),
      date: "2023-11-14T22:13:20.000Z",
      bun: Bun.version,
      files: [{ name: fileName(target), target: target.name, size: bytes.length, sha256 }],
    });
    expect(readFileSync(dir.file("one/SHA256SUMS"), "utf8")).toBe(`${sha256}  ${fileName(target)}\n`);
    expect(readFileSync(dir.file("one/install.sh"), "utf8")).toContain('\ndefault_base_url="https://example.org/v1"\n');

    for (const name of ["manifest.json", "SHA256SUMS"]) {
      expect(readFileSync(dir.file(`two/${name}`), "utf8")).toBe(readFileSync(dir.file(`one/${name}`), "utf8"));
    }
  });

  test("names the targets when one is unknown", async () => {
    const { code, stderr } = await release(["linux-riscv64"]);
    expect(code).toBe(1);
    expect(stderr).toStartWith("no such target: linux-riscv64\n");
    for (const { name } of targets) expect(stderr).toContain(name);
  });

  test("takes nothing away that is no release", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("SHA256SUMS"), "");
    writeFileSync(dir.file("diary"), "dear");
    const { code, stderr } = await release(["--out", dir.path]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${dir.path} has diary, which is no part of a release: name another folder\n`,
    });
    expect(readdirSync(dir.path).sort()).toEqual(["SHA256SUMS", "diary"]);
  });

  test("does not test a file that is not what the manifest says", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("pi-ts-linux-x64"), "broken");
    const files = [{ name: "pi-ts-linux-x64", target: "linux-x64", size: 6, sha256: "0".repeat(64) }];
    writeManifest(dir.path, { version: "1.0.0", commit: "c", date: "d", bun: "b", files });
    expect(() => readManifest(dir.path)).toThrow("pi-ts-linux-x64 is not what the manifest says");
    const { code, stderr } = await release(["--smoke-only", "--out", dir.path]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "pi-ts-linux-x64 is not what the manifest says\n" });
  });

  test("takes the commit's date where SOURCE_DATE_EPOCH is not set, and refuses one that is no number", () => {
    expect(describeSource(root, undefined).date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
    expect(() => describeSource(root, "yesterday")).toThrow("SOURCE_DATE_EPOCH is no number of seconds: yesterday");
  });
});

describe("what a program is for", () => {
  test("is read from its header", async () => {
    await using dir = tmp();
    const file = (bytes: Buffer) => {
      writeFileSync(dir.file("program"), bytes);
      return describeExecutable(dir.file("program"));
    };
    expect(file(elf(62, "/lib/ld-musl-x86_64.so.1"))).toBe("ELF x64 musl");
    expect(file(elf(183, "/lib/ld-linux-aarch64.so.1"))).toBe("ELF arm64 glibc");
    expect(file(elf(243, "/lib/ld-linux-riscv64-lp64d.so.1"))).toBe("ELF machine 0xf3 glibc");
    expect(file(pe(0x8664))).toBe("PE x64");
    expect(file(machO())).toBe("Mach-O x64 with a stale signature");
    expect(() => file(Buffer.alloc(8192))).toThrow("is no ELF, Mach-O or PE file");
    expect(() => file(Buffer.from("#!/bin/sh\n"))).toThrow("is too short to be a program");
  });

  test("a macOS program is signed anew over all its pages, and each change to it shows", () => {
    const unsigned = machO();
    const signed = signAdHoc(unsigned, "pi-ts");
    expect(signatureState(unsigned)).toBe("with a stale signature");
    expect(signatureState(signed)).toBe("signed");
    expect(signAdHoc(unsigned, "pi-ts").equals(signed)).toBe(true);
    // The load commands, the middle and the last, short page; then the hashes themselves.
    for (const at of [56, 5000, signatureStart - 1, signed.length - 1]) {
      const changed = Buffer.from(signed);
      changed[at]! ^= 1;
      expect(signatureState(changed)).toBe("with a stale signature");
    }
    // __LINKEDIT ends where the file does.
    expect(Number(signed.readBigUInt64LE(104 + 40)) + Number(signed.readBigUInt64LE(104 + 48))).toBe(signed.length);
  });
});

function elf(machine: number, loader: string): Buffer {
  const bytes = Buffer.alloc(8192);
  bytes.write("\x7fELF", "latin1");
  bytes.writeUInt16LE(machine, 18);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(2, 56);
  bytes.writeUInt32LE(1, 64);
  bytes.writeUInt32LE(3, 64 + 56);
  bytes.writeBigUInt64LE(512n, 64 + 56 + 8);
  bytes.write(loader, 512, "latin1");
  return bytes;
}

function pe(machine: number): Buffer {
  const bytes = Buffer.alloc(8192);
  bytes.write("MZ", "latin1");
  bytes.writeUInt32LE(256, 0x3c);
  bytes.writeUInt16LE(machine, 256 + 4);
  return bytes;
}

const signatureStart = 9000;

/** Two segments and a place for a signature with nothing in it; 64-bit segment commands are 72 bytes long. */
function machO(): Buffer {
  const bytes = Buffer.alloc(9500, "x");
  bytes.fill(0, 0, 512);
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(0x01000007, 4);
  bytes.writeUInt32LE(3, 16);
  const segment = (at: number, name: string, offset: number, size: number) => {
    bytes.writeUInt32LE(0x19, at);
    bytes.writeUInt32LE(72, at + 4);
    bytes.write(name, at + 8, "latin1");
    bytes.writeBigUInt64LE(BigInt(offset), at + 40);
    bytes.writeBigUInt64LE(BigInt(size), at + 48);
  };
  segment(32, "__TEXT", 0, 8192);
  segment(104, "__LINKEDIT", 8192, 9500 - 8192);
  bytes.writeUInt32LE(0x1d, 176);
  bytes.writeUInt32LE(16, 180);
  bytes.writeUInt32LE(signatureStart, 184);
  bytes.writeUInt32LE(500, 188);
  return bytes;
}
