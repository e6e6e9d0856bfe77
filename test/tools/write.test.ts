import { describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { write } from "../../src/tools/write.ts";
import { callText, previewText } from "../helpers/call-tool.ts";
import { tmp } from "../helpers/tmp.ts";

describe("writing", () => {
  test("creates a file with its folders, byte for byte", async () => {
    await using dir = tmp();
    const content = "é\r\n\ttext without end";
    expect(await callText(write, dir.path, { path: "a/b/c.txt", content })).toBe("Created a/b/c.txt (21 bytes)");
    expect(readFileSync(dir.file("a/b/c.txt"), "utf8")).toBe(content);
    expect(readdirSync(dir.file("a/b"))).toEqual(["c.txt"]);
  });

  test("replaces all of a file, which need not be text", async () => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), new Uint8Array(1000).fill(0xff));
    expect(await callText(write, dir.path, { path: "f", content: "x" })).toBe("Wrote 1 byte to f");
    expect(readFileSync(dir.file("f"), "utf8")).toBe("x");
  });

  test("can make a file empty", async () => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), "x");
    expect(await callText(write, dir.path, { path: "f", content: "" })).toBe("Wrote 0 bytes to f");
    expect(readFileSync(dir.file("f"), "utf8")).toBe("");
  });

  test("goes through a link, also one that leads to nothing yet", async () => {
    await using dir = tmp();
    symlinkSync("folder/target", dir.file("link"));
    expect(await callText(write, dir.path, { path: "link", content: "1" })).toBe("Created link (1 byte)");
    expect(await callText(write, dir.path, { path: "link", content: "2" })).toBe("Wrote 1 byte to link");
    expect(lstatSync(dir.file("link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(dir.file("folder/target"), "utf8")).toBe("2");
  });
});

test.each([
  ["a directory", "d", "d is a directory, not a regular file"],
  ["a FIFO", "p", "p is a FIFO, not a regular file"],
  ["a device", "/dev/null", "/dev/null is a device, not a regular file"],
  ["below a file", "f/x", "cannot write f/x: a part of the path is not a directory"],
  ["far below a file", "f/x/y", "cannot write f/x/y: a part of the path is not a directory"],
  ["a name that is too long", "n".repeat(300), `cannot write ${"n".repeat(300)}: the name is too long`],
  ["a NUL in the path", "a\0b", "a path cannot contain a NUL character"],
])("%s is refused, in the preview too", async (_, path, message) => {
  await using dir = tmp();
  mkdirSync(dir.file("d"));
  Bun.spawnSync(["mkfifo", dir.file("p")]);
  await Bun.write(dir.file("f"), "");
  const before = readdirSync(dir.path);
  expect(await callText(write, dir.path, { path, content: "x" })).toBe(`Error: ${message}`);
  if (path !== "f/x/y") expect(await previewText(write, dir.path, { path, content: "x" })).toBe(`Error: ${message}`);
  expect(readdirSync(dir.path)).toEqual(before);
});

describe("the preview", () => {
  test.each([
    ["of a new file shows all of it", undefined, "new file\n--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+b\n+c\n"],
    ["of a change is a diff", "a\nb\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n b\n+c\n"],
    ["of the same content says so", "b\nc\n", "no change"],
    ["shows a change of line ends", "b\r\nc\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-b\r\n+b\n c\n"],
    [
      "of bytes that are not text shows what comes",
      new Uint8Array([0xff]),
      "replaces a file that cannot be shown as text\n--- f\n+++ f\n@@ -0,0 +1,2 @@\n+b\n+c\n",
    ],
  ])("%s", async (_, before, shown) => {
    await using dir = tmp();
    if (before !== undefined) await Bun.write(dir.file("f"), before);
    expect(await previewText(write, dir.path, { path: "f", content: "b\nc\n" })).toBe(shown);
    expect(readdirSync(dir.path)).toEqual(before === undefined ? [] : ["f"]);
  });
});

test("a path that ends like a folder is refused", async () => {
  await using dir = tmp();
  expect(await callText(write, dir.path, { path: "new/", content: "x" })).toBe(
    "Error: new/ names a folder, not a file",
  );
});
