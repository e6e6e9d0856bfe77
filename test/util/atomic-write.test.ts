import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { atomicWrite } from "../../src/util/atomic-write.ts";
import { tmp } from "../helpers/tmp.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);
const isRoot = process.getuid?.() === 0;
const source = join(import.meta.dir, "../../src/util/atomic-write.ts");

let umask: number;
beforeEach(() => {
  umask = process.umask(0o022);
});
afterEach(() => {
  process.umask(umask);
});

describe("the mode", () => {
  test.each([0o755, 0o600, 0o640, 0o4755])("%o of an existing file stays", async (mode) => {
    await using dir = tmp();
    await Bun.write(dir.file("run.sh"), "old");
    chmodSync(dir.file("run.sh"), mode);
    await atomicWrite(dir.file("run.sh"), bytes("new"));
    expect(modeOf(dir.file("run.sh"))).toBe(mode.toString(8));
  });

  test.each([
    [0o022, "644"],
    [0o002, "664"],
    [0o077, "600"],
  ])("of a new file follows the umask %o", async (mask, mode) => {
    await using dir = tmp();
    process.umask(mask);
    await atomicWrite(dir.file("new"), bytes("x"));
    expect(modeOf(dir.file("new"))).toBe(mode);
  });
});

test.skipIf(!isRoot)("the owner of an existing file stays", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("f"), "old");
  chownSync(dir.file("f"), 1234, 2345);
  await atomicWrite(dir.file("f"), bytes("new"));
  const { uid, gid } = statSync(dir.file("f"));
  expect([uid, gid]).toEqual([1234, 2345]);
});

test("a chain of links stays and its end is written", async () => {
  await using dir = tmp();
  mkdirSync(dir.file("folder"));
  await Bun.write(dir.file("folder/c"), "old");
  symlinkSync("folder/c", dir.file("b"));
  symlinkSync("b", dir.file("a"));
  await atomicWrite(dir.file("a"), bytes("new"));
  expect([readlinkSync(dir.file("a")), readlinkSync(dir.file("b"))]).toEqual(["b", "folder/c"]);
  expect(readFileSync(dir.file("folder/c"), "utf8")).toBe("new");
});

test("an existing file is replaced at once, not emptied first", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("f"), "old");
  const before = statSync(dir.file("f")).ino;
  await atomicWrite(dir.file("f"), bytes("new"));
  expect(statSync(dir.file("f")).ino).not.toBe(before);
  expect(readdirSync(dir.path)).toEqual(["f"]);
});

test("a writer killed in the middle leaves the old content or the new, whole", async () => {
  await using dir = tmp();
  const size = 2_000_000;
  await Bun.write(dir.file("f"), "a".repeat(size));
  const script = `import { atomicWrite } from ${JSON.stringify(source)};
    for (let i = 0; ; i++) {
      await atomicWrite("f", new Uint8Array(${size}).fill(97 + (i % 2)));
      if (i === 0) console.log("writing");
    }`;
  const writer = Bun.spawn([process.execPath, "-e", script], { cwd: dir.path, stdout: "pipe" });
  await writer.stdout.getReader().read();
  writer.kill("SIGKILL");
  await writer.exited;
  const content = readFileSync(dir.file("f"), "utf8");
  expect([content.length, new Set(content).size]).toEqual([size, 1]);
});

/** Runs the write as a user without rights of its own. */
function writeAsNobody(path: string): { error: string } {
  const script = `import { atomicWrite } from ${JSON.stringify(source)};
    try { await atomicWrite(${JSON.stringify(path)}, new TextEncoder().encode("new")); } catch (error) { console.log(error.code); }`;
  const command = [process.execPath, "-e", script];
  const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ...command];
  const { stdout, stderr } = Bun.spawnSync(isRoot ? asNobody : command, {
    cwd: "/",
    env: { PATH: process.env.PATH, HOME: "/nonexistent" },
  });
  return { error: stdout.toString().trim() + stderr.toString().trim() };
}

describe.skipIf(isRoot && !Bun.which("setpriv"))("without the right to write", () => {
  test("to the folder, a writable file is written in place", async () => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), "old and longer");
    chmodSync(dir.file("f"), 0o666);
    chmodSync(dir.path, 0o555);
    const before = statSync(dir.file("f")).ino;
    expect(writeAsNobody(dir.file("f"))).toEqual({ error: "" });
    expect([readFileSync(dir.file("f"), "utf8"), statSync(dir.file("f")).ino]).toEqual(["new", before]);
    expect(writeAsNobody(dir.file("g"))).toEqual({ error: "EACCES" });
    chmodSync(dir.path, 0o755);
  });

  test("to the file, it is not replaced although the folder would allow it", async () => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), "old");
    chmodSync(dir.file("f"), 0o444);
    chmodSync(dir.path, 0o777);
    expect(writeAsNobody(dir.file("f"))).toEqual({ error: "EACCES" });
    expect(readFileSync(dir.file("f"), "utf8")).toBe("old");
    expect(existsSync(dir.file("f"))).toBe(true);
  });
});
