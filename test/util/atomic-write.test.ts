import { dlopen } from "bun:ffi";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { atomicWrite, replaceFile } from "../../src/util/atomic-write.ts";
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

describe.if(process.platform === "linux")("a real path", () => {
  test.each([
    ["a new file", undefined],
    ["a file", 1],
    ["a file with hard links", 2],
  ])("is where %s is written, also when a link takes its folder's place in the middle", async (_, links) => {
    await using dir = tmp();
    for (const folder of ["folder", "other"]) mkdirSync(dir.file(folder));
    if (links !== undefined) writeFileSync(dir.file("folder/f"), "old");
    if (links === 2) linkSync(dir.file("folder/f"), dir.file("g"));
    await replaceFile(dir.file("folder/f"), bytes("new"), {
      async beforeCommit() {
        renameSync(dir.file("folder"), dir.file("moved"));
        symlinkSync("other", dir.file("folder"));
      },
    });
    expect(readFileSync(dir.file("moved/f"), "utf8")).toBe("new");
    expect([readdirSync(dir.file("moved")), readdirSync(dir.file("other"))]).toEqual([["f"], []]);
  });

  test.each(["folder/f", "link"])("that has become a link is refused: %s", async (path) => {
    await using dir = tmp();
    mkdirSync(dir.file("other"));
    writeFileSync(dir.file("other/f"), "old");
    symlinkSync("other", dir.file("folder"));
    symlinkSync("other/f", dir.file("link"));
    await expect(replaceFile(dir.file(path), bytes("new"))).rejects.toMatchObject({ code: "ESTALE" });
    expect(readFileSync(dir.file("other/f"), "utf8")).toBe("old");
  });
});

test("an existing file is replaced at once, not emptied first", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("f"), "old");
  const before = statSync(dir.file("f")).ino;
  await atomicWrite(dir.file("f"), bytes("new"));
  expect(statSync(dir.file("f")).ino).not.toBe(before);
  expect(readdirSync(dir.path)).toEqual(["f"]);
});

test("a writer killed at any moment leaves the old content or the new, whole, and nothing that others can read", async () => {
  await using dir = tmp();
  const size = 3_000_000;
  writeFileSync(dir.file("f"), "a".repeat(size), { mode: 0o600 });
  const script = `import { atomicWrite, replaceFile } from ${JSON.stringify(source)};
    for (let i = 1; ; i++) await atomicWrite("f", new Uint8Array(${size}).fill(97 + (i % 26)));`;
  let inTheMiddle = 0;
  for (let run = 0; run < 12; run++) {
    const writer = Bun.spawn([process.execPath, "-e", script], { cwd: dir.path });
    await firstTemporary(dir.path);
    // From the first byte of a write to well into the next one.
    const until = performance.now() + (run % 6) * 6 + Math.random() * 6;
    while (performance.now() < until);
    writer.kill("SIGKILL");
    await writer.exited;
    const content = readFileSync(dir.file("f"));
    expect([content.equals(new Uint8Array(size).fill(content[0] ?? 0)), modeOf(dir.file("f"))]).toEqual([true, "600"]);
    for (const name of readdirSync(dir.path).filter((name) => name !== "f")) {
      expect(name).toMatch(/^\.pi-ts-.*\.tmp$/);
      expect(modeOf(dir.file(name))).toBe("600");
      rmSync(dir.file(name));
      inTheMiddle++;
    }
  }
  expect(inTheMiddle).toBeGreaterThan(0);
}, 20_000);

/** Resolves when a temporary file appears in a folder that has none. */
async function firstTemporary(folder: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(folder, (_, name) => name?.startsWith(".pi-ts-") && resolve());
  if (readdirSync(folder).some((name) => name.startsWith(".pi-ts-"))) resolve();
  await promise;
  watcher.close();
}

test("a writer that ends in the middle takes its temporary file along", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("f"), "old");
  const script = `import { atomicWrite, replaceFile } from ${JSON.stringify(source)};
    await atomicWrite("f", new Uint8Array(1000), { beforeCommit: () => process.exit(7) });`;
  const writer = Bun.spawn([process.execPath, "-e", script], { cwd: dir.path });
  expect(await writer.exited).toBe(7);
  expect([readdirSync(dir.path), readFileSync(dir.file("f"), "utf8")]).toEqual([["f"], "old"]);
});

test("what a killed writer left is removed by a later write in the same folder, once it is surely abandoned", async () => {
  await using dir = tmp();
  const name = (hoursAgo: number) => `.pi-ts-${Bun.randomUUIDv7("hex", Date.now() - hoursAgo * 3_600_000)}.tmp`;
  const [abandoned, recent, foreign] = [name(2), name(0.5), ".pi-ts-notes.tmp"];
  for (const file of [abandoned, recent, foreign]) await Bun.write(dir.file(file), "x");
  await atomicWrite(dir.file("f"), bytes("new"));
  expect(readdirSync(dir.path).toSorted()).toEqual([recent, foreign, "f"].toSorted());
});

describe("the last look before the new content appears", () => {
  test("finds it on disk, with its mode, and the old one still in place", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("f"), "old", { mode: 0o640 });
    let seen: unknown;
    await atomicWrite(dir.file("f"), bytes("new"), {
      async beforeCommit() {
        const [temporary = ""] = readdirSync(dir.path).filter((name) => name !== "f");
        seen = [temporary, "f"].map((name) => [readFileSync(dir.file(name), "utf8"), modeOf(dir.file(name))]);
      },
    });
    expect(seen).toEqual([
      ["new", "640"],
      ["old", "640"],
    ]);
    expect(readFileSync(dir.file("f"), "utf8")).toBe("new");
  });

  test.each([1, 2])("can refuse, and the file with %d hard links stays as it was", async (links) => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), "old");
    if (links === 2) linkSync(dir.file("f"), dir.file("g"));
    const before = statSync(dir.file("f"));
    const refuse = async () => {
      throw new Error("no");
    };
    await expect(atomicWrite(dir.file("f"), bytes("new"), { beforeCommit: refuse })).rejects.toThrow("no");
    const after = statSync(dir.file("f"));
    expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
    expect(readdirSync(dir.path)).toHaveLength(links);
  });
});

test.each(["longer than before", "s"])(
  "all names of a file with hard links lead to the new content: %p",
  async (content) => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), "old text");
    chmodSync(dir.file("f"), 0o754);
    linkSync(dir.file("f"), dir.file("g"));
    await atomicWrite(dir.file("f"), bytes(content));
    expect(["f", "g"].map((name) => readFileSync(dir.file(name), "utf8"))).toEqual([content, content]);
    expect([statSync(dir.file("f")).ino, modeOf(dir.file("g"))]).toEqual([statSync(dir.file("g")).ino, "754"]);
  },
);

test("a file written in place has its old content back when there is no room for the new one", async () => {
  await using dir = tmp();
  const old = "old\n".repeat(300);
  await Bun.write(dir.file("f"), old);
  linkSync(dir.file("f"), dir.file("g"));
  const script = `import { atomicWrite, replaceFile } from ${JSON.stringify(source)};
    await atomicWrite("f", new Uint8Array(5000)).catch((error) => console.log(error.code));`;
  const limited = ["bash", "-c", 'trap "" XFSZ; ulimit -f 2; exec "$0" -e "$1"', process.execPath, script];
  const { stdout } = Bun.spawnSync(limited, { cwd: dir.path });
  expect([stdout.toString(), readFileSync(dir.file("g"), "utf8")]).toEqual(["EFBIG\n", old]);
});

test.skipIf(process.platform !== "linux")("extended attributes and the access control list stay", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("f"), "old");
  chmodSync(dir.file("f"), 0o640);
  const { symbols: libc } = dlopen("libc.so.6", {
    setxattr: { args: ["ptr", "ptr", "ptr", "usize", "i32"], returns: "i32" },
    getxattr: { args: ["ptr", "ptr", "ptr", "usize"], returns: "i64" },
  });
  const text = (value: string) => Buffer.from(`${value}\0`);
  const get = (name: string): Uint8Array | undefined => {
    const value = Buffer.alloc(100);
    const length = Number(libc.getxattr(text(dir.file("f")), text(name), value, value.length));
    return length < 0 ? undefined : value.subarray(0, length);
  };
  // acl(5) as Linux stores it: a version, then tag, permissions and id of each entry; here `user:1234:rw` beside the mode's own.
  const entries = [
    [1, 6, -1],
    [2, 6, 1234],
    [4, 4, -1],
    [16, 6, -1],
    [32, 0, -1],
  ];
  const acl = Buffer.alloc(4 + 8 * entries.length);
  acl.writeUInt32LE(2, 0);
  for (const [index, [tag = 0, permissions = 0, id = 0]] of entries.entries()) {
    acl.writeUInt16LE(tag, 4 + 8 * index);
    acl.writeUInt16LE(permissions, 6 + 8 * index);
    acl.writeInt32LE(id, 8 + 8 * index);
  }
  const wanted: [string, Buffer][] = [
    ["user.origin", Buffer.from("here")],
    ["system.posix_acl_access", acl],
  ];
  const set = wanted.filter(
    ([name, value]) => libc.setxattr(text(dir.file("f")), text(name), value, value.length, 0) === 0,
  );
  const [mode, { ino }] = [modeOf(dir.file("f")), statSync(dir.file("f"))];
  await atomicWrite(dir.file("f"), bytes("new"));
  expect(statSync(dir.file("f")).ino).not.toBe(ino);
  // A file system without them has none to keep.
  for (const [name, value] of set) expect(Buffer.from(get(name) ?? []).equals(value)).toBe(true);
  expect(modeOf(dir.file("f"))).toBe(mode);
});

/** Runs the write as a user without rights of its own. */
function writeAsNobody(path: string): { error: string } {
  const script = `import { atomicWrite, replaceFile } from ${JSON.stringify(source)};
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
