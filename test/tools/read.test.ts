import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { read } from "../../src/tools/read.ts";
import { type CallOptions, callText } from "../helpers/call-tool.ts";
import { tmp } from "../helpers/tmp.ts";

/** What `read` says of a file `f` with this content. */
async function readContent(
  content: string | Uint8Array,
  window: { offset?: number; limit?: number; column?: number } = {},
  options?: CallOptions,
): Promise<string> {
  await using dir = tmp();
  await Bun.write(dir.file("f"), content);
  return await callText(read, dir.path, { path: "f", ...window }, options);
}

const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}`);
const numbered = (from: number, to: number) => lines(from, to).map((line) => `${line.padStart(6)}\t${line}`);

describe("a file", () => {
  test.each([
    ["has its lines numbered", "a\nb\n", "     1\ta\n     2\tb"],
    ["may end without a line break", "a\nb", "     1\ta\n     2\tb"],
    ["may have empty lines", "\n\nx\n\n", "     1\t\n     2\t\n     3\tx\n     4\t"],
    ["is shown without the CR of its line ends", "a\r\nb\r\n", "     1\ta\n     2\tb"],
    ["is shown with a CR that is data", "10%\r20%\rdone\n", "     1\t10%\r20%\rdone"],
    ["is shown without its byte order mark", "\ufeffa\n", "     1\ta"],
    ["may have any character", "é€😀\n", "     1\té€😀"],
    ["may be empty", "", "f is empty"],
    ["may be a byte order mark and nothing else", "\ufeff", "f is empty"],
  ])("%s", async (_, content, text) => {
    expect(await readContent(content)).toBe(text);
  });

  test.each([
    ["Latin-1", [0x63, 0x61, 0x66, 0xe9, 0x0a]],
    ["a character cut off at the end", [0x61, 0xe2, 0x82]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
  ])("that is not UTF-8 is refused: %s", async (_, bytes) => {
    expect(await readContent(new Uint8Array(bytes))).toBe("Error: f is not valid UTF-8");
  });

  test("is refused by the path as it was given", async () => {
    await using dir = tmp();
    await Bun.write(dir.file("a/f"), new Uint8Array([0xff]));
    expect(await callText(read, dir.path, { path: "./a/../a/f" })).toBe("Error: ./a/../a/f is not valid UTF-8");
  });

  test("is shown whole however its characters fall into pieces", async () => {
    const content = `x${"é€😀".repeat(200)}\n`.repeat(300);
    const shown = await readContent(content, {}, { maxOutput: content.length * 2 });
    expect(shown.replace(/^ *\d+\t/gm, "")).toBe(content.trimEnd());
  });
});

describe("a window", () => {
  const content = lines(1, 5000).join("\n");

  test.each([
    ["without being asked for", {}, [...numbered(1, 2000), "... 3000 more lines; go on with offset 2001"]],
    ["from a line", { offset: 4999 }, numbered(4999, 5000)],
    ["of some lines", { offset: 10, limit: 2 }, [...numbered(10, 11), "... 4989 more lines; go on with offset 12"]],
    [
      "that leaves one line",
      { offset: 1, limit: 4999 },
      [...numbered(1, 4999), "... 1 more line; go on with offset 5000"],
    ],
    ["that is just the file", { limit: 5000 }, numbered(1, 5000)],
    ["beyond the end", { offset: 5001 }, ["offset 5001 is beyond the end of f (5000 lines)"]],
  ])("%s", async (_, window, shown) => {
    expect(await readContent(content, window)).toBe(shown.join("\n"));
  });

  test.each([
    ["offset", 0, "'offset' must be at least 1"],
    ["limit", 0, "'limit' must be at least 1"],
    ["offset", "7", "'offset' must be a number"],
    ["limit", 1.5, "'limit' must be a whole number"],
    ["lines", 3, "unknown field 'lines'"],
  ])("with %s = %p is an error", async (field, value, message) => {
    expect(await callText(read, "/", { path: "f", [field]: value })).toBe(
      `Error: invalid arguments for read: ${message}`,
    );
  });
});

describe("a result that would be too long", () => {
  const long = { maxOutput: 1000 };

  test("ends with a whole line and says where to go on; so the whole file can be had", async () => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), lines(1, 500).join("\n"));
    let offset = 1;
    let got: string[] = [];
    for (;;) {
      const result = await callText(read, dir.path, { path: "f", offset }, long);
      expect(result.length).toBeLessThanOrEqual(long.maxOutput);
      const [, more, next] = /^\.\.\. (\d+) more lines?; go on with offset (\d+)$/m.exec(result) ?? [];
      const shown = result.split("\n").slice(0, more === undefined ? undefined : -1);
      got = [...got, ...shown];
      expect(got.length + Number(more ?? 0)).toBe(500);
      if (next === undefined) break;
      offset = Number(next);
    }
    expect(got).toEqual(numbered(1, 500));
  });

  test("because of its first line cuts that one", async () => {
    const result = await readContent(`${"x".repeat(1500)}\ny\n`, {}, long);
    expect(result).toBe(
      `     1\t${"x".repeat(800)}... <line cut: 700 more of its 1500 chars; go on with offset 1, column 801>\n` +
        "... 1 more line; go on with offset 2",
    );
  });
});

describe("a very long line", () => {
  const cut = (text: string, line: number, column: number, length: number) =>
    `${`${line}`.padStart(6)}\t${text}... <line cut: ${length - column + 1} more of its ${length} chars; go on with offset ${line}, column ${column}>`;

  test("is cut, with its length and the arguments that go on in it", async () => {
    const long = "x".repeat(1_000_000);
    expect(await readContent(`${long}\nnext\n`)).toBe(`${cut("x".repeat(2000), 1, 2001, 1_000_000)}\n     2\tnext`);
    expect(await readContent(long, { offset: 1, limit: 1 })).toBe(cut("x".repeat(2000), 1, 2001, 1_000_000));
  });

  test("is readable from its first character to its last, window after window", async () => {
    await using dir = tmp();
    const whole = Array.from({ length: 100_000 }, (_, i) => `${i};é😀`)
      .join("")
      .slice(0, 1_000_000);
    await Bun.write(dir.file("f"), `first\n${whole}\r\nlast\n`);
    let got = "";
    let calls = 0;
    for (let column: number | undefined = 1; column !== undefined; calls++) {
      const result = await callText(read, dir.path, { path: "f", offset: 2, column });
      const [, text = "", next] =
        /^ {5}2\t(.*?)(?:\.\.\. <line cut: .*; go on with offset 2, column (\d+)>)?\n\.\.\. 1 more line; go on with offset 3$/su.exec(
          result,
        ) ?? [];
      got += text;
      column = next === undefined ? undefined : Number(next);
    }
    expect(got === whole).toBe(true);
    expect(calls).toBeLessThan(60);
  });

  test.each([
    ["the rest of it", { column: 2001 }, `     1\t${"y".repeat(10)}\n... 1 more line; go on with offset 2`],
    ["the rest, and lines after it", { column: 2009, limit: 2 }, "     1\tyy\n     2\tnext"],
    ["its last character", { column: 2010 }, "     1\ty\n... 1 more line; go on with offset 2"],
    ["a column beyond it", { column: 2011 }, "column 2011 is beyond the end of line 1 of f (2010 chars)"],
    ["a column of another line", { offset: 2, column: 3 }, "     2\txt"],
    ["a column of a line that is not there", { offset: 9, column: 3 }, "offset 9 is beyond the end of f (2 lines)"],
  ])("shows %s", async (_, window, shown) => {
    expect(await readContent(`${"x".repeat(2000)}${"y".repeat(10)}\r\nnext\n`, window)).toBe(shown);
  });

  test("of just the length that fits is whole, with a CR too", async () => {
    expect(await readContent(`${"x".repeat(2000)}\r\n`)).toBe(`     1\t${"x".repeat(2000)}`);
  });

  test("is not cut within a character, and a column within one shows it whole", async () => {
    const line = `${"x".repeat(1999)}😀y`;
    expect(await readContent(line)).toBe(cut("x".repeat(1999), 1, 2000, 2002));
    expect(await readContent(line, { column: 2000 })).toBe("     1\t😀y");
    expect(await readContent(line, { column: 2001 })).toBe("     1\t😀y");
  });
});

describe("what is no regular file is one clear error", () => {
  test("a directory", async () => {
    await using dir = tmp();
    mkdirSync(dir.file("d"));
    expect(await callText(read, dir.path, { path: "d" })).toBe("Error: d is a directory, not a regular file");
  });

  test("a FIFO, also behind a link", async () => {
    await using dir = tmp();
    Bun.spawnSync(["mkfifo", dir.file("p")]);
    symlinkSync("p", dir.file("link"));
    expect(await callText(read, dir.path, { path: "p" })).toBe("Error: p is a FIFO, not a regular file");
    expect(await callText(read, dir.path, { path: "link" })).toBe("Error: link is a FIFO, not a regular file");
  });

  test("a socket", async () => {
    await using dir = tmp();
    using _server = Bun.listen({ unix: dir.file("s"), socket: { data() {} } });
    expect(await callText(read, dir.path, { path: "s" })).toBe("Error: s is a socket, not a regular file");
  });

  test.each(["/dev/zero", "/dev/tty"])("the device %s", async (path) => {
    expect(await callText(read, "/", { path })).toBe(`Error: ${path} is a device, not a regular file`);
  });
});

describe("a path that leads nowhere", () => {
  test.each([
    ["says what is near", "src/mian.ts", "src/mian.ts does not exist; did you mean src/main.ts?"],
    ["says so alone when nothing is near", "src/zzzzzzzz", "src/zzzzzzzz does not exist"],
    ["says that the folder is missing too", "lib/main.ts", "lib/main.ts does not exist, nor does the folder lib"],
    ["says the first of the missing folders", "lib/a/main.ts", "lib/a/main.ts does not exist, nor does the folder lib"],
    ["finds a folder spelt wrong", "scr/main.ts", "scr/main.ts does not exist; did you mean src/main.ts?"],
    [
      "finds a folder spelt wrong on the way",
      "./src/deeep/er/file.txt",
      "./src/deeep/er/file.txt does not exist; did you mean ./src/deep/er/file.txt?",
    ],
    [
      "finds several wrong names",
      "Src/deeep/er/fiel.txt",
      "Src/deeep/er/fiel.txt does not exist; did you mean src/deep/er/file.txt?",
    ],
    [
      "finds the folder when the file is nowhere",
      "scr/zzzzzzzz",
      "scr/zzzzzzzz does not exist, nor does the folder scr; did you mean src/?",
    ],
    ["is a link that dangles", "dangling", "dangling is a symbolic link to no/thing, which does not exist"],
    ["goes through a file", "src/main.ts/x", "cannot read src/main.ts/x: a part of the path is not a directory"],
    ["is a loop of links", "loop", "cannot read loop: too many symbolic links"],
    ["holds a NUL", "a\0b", "a path cannot contain a NUL character"],
    ["is empty", "", "invalid arguments for read: 'path' must not be empty"],
  ])("%s", async (_, path, message) => {
    await using dir = tmp();
    await Bun.write(dir.file("src/main.ts"), "");
    await Bun.write(dir.file("src/deep/er/file.txt"), "");
    symlinkSync("loop", dir.file("loop"));
    symlinkSync("no/thing", dir.file("dangling"));
    expect(await callText(read, dir.path, { path })).toBe(`Error: ${message}`);
  });
});

const isRoot = process.getuid?.() === 0;
test.skipIf(isRoot && !Bun.which("setpriv"))("what may not be read is one clear error", async () => {
  await using dir = tmp();
  mkdirSync(dir.file("closed"));
  await Bun.write(dir.file("secret"), "x");
  for (const name of ["secret", "closed"]) chmodSync(dir.file(name), 0);
  chmodSync(dir.path, 0o755);
  const module = (path: string) => JSON.stringify(join(import.meta.dir, "../..", path));
  const script = `import { read } from ${module("src/tools/read.ts")};
    import { callText } from ${module("test/helpers/call-tool.ts")};
    for (const path of ["secret", "closed/f"]) console.log(await callText(read, ${JSON.stringify(dir.path)}, { path }));`;
  const asNobody = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  const { stdout } = Bun.spawnSync([...asNobody, process.execPath, "-e", script], {
    cwd: "/",
    env: { PATH: process.env.PATH, HOME: "/nonexistent" },
  });
  expect(stdout.toString()).toBe(
    "Error: cannot read secret: permission denied\nError: cannot read closed/f: permission denied\n",
  );
  chmodSync(dir.file("closed"), 0o700);
});

test("a suggestion follows no link behind a wrong name and tells nothing of folders that a path goes back from", async () => {
  await using dir = tmp();
  await using other = tmp();
  await Bun.write(other.file("secret/key.txt"), "");
  await Bun.write(dir.file("links/file.txt"), "");
  symlinkSync(other.path, dir.file("out"));
  symlinkSync(other.path, dir.file("links/out"));
  for (const [path, rest] of [
    ["oot/secret/key.txt", ", nor does the folder oot"],
    ["linsk/out/secret/key.tx", ", nor does the folder linsk; did you mean links/?"],
    [`${other.path}/secre/../../${basename(dir.path)}/links/flie.txt`, `; did you mean ${dir.file("links/file.txt")}?`],
  ]) {
    expect(await callText(read, dir.path, { path })).toBe(`Error: ${path} does not exist${rest}`);
  }
});

test("an absolute path with a wrong name in it has its suggestion absolute", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("src/main.ts"), "");
  expect(await callText(read, "/", { path: dir.file("scr/mian.ts") })).toBe(
    `Error: ${dir.file("scr/mian.ts")} does not exist; did you mean ${dir.file("src/main.ts")}?`,
  );
});

test.skipIf(process.platform !== "linux")("a file whose size is not known beforehand is read to its end", async () => {
  expect(await callText(read, "/", { path: "/proc/self/status" })).toStartWith("     1\tName:\t");
});

test("a very large file needs a window, and gets one", async () => {
  await using dir = tmp();
  const size = 300 * 1024 * 1024;
  Bun.spawnSync(["truncate", "-s", `${size}`, dir.file("big")]);
  await Bun.spawn(["dd", `of=${dir.file("big")}`, "conv=notrunc", "status=none"], { stdin: new Blob(["one\ntwo\n"]) })
    .exited;
  expect(await callText(read, dir.path, { path: "big" })).toBe(
    `Error: big is very large (${size} bytes); give offset and limit, or use bash with grep`,
  );
  expect(await callText(read, dir.path, { path: "big", offset: 2, limit: 1 })).toBe(
    "     2\ttwo\n... more lines follow; go on with offset 3",
  );
});
