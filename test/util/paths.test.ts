import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { isInside, isSameFile, realTarget, resolvePath } from "../../src/util/paths.ts";
import { tmp } from "../helpers/tmp.ts";

test.each([
  ["a.txt", "/project/a.txt"],
  ["./a/../b", "/project/b"],
  ["../b", "/b"],
  ["/etc/passwd", "/etc/passwd"],
  [".", "/project"],
  ["a/", "/project/a"],
  ["~", homedir()],
  ["~/x", `${homedir()}/x`],
  ["~x", "/project/~x"],
  ["a/~", "/project/a/~"],
])("%s in /project is %s", (path, absolute) => {
  expect(resolvePath("/project", path)).toBe(absolute);
});

test.each([
  ["/project", "/project", true],
  ["/project", "/project/a", true],
  ["/project", "/project/..a", true],
  ["/project", "/project/...", true],
  ["/project", "/project-evil", false],
  ["/project", "/project-evil/a", false],
  ["/project", "/wor", false],
  ["/project", "/", false],
  ["/project/a", "/project", false],
  ["/", "/etc", true],
])("in %s, %s is inside: %p", (root, path, inside) => {
  expect(isInside(root, path)).toBe(inside);
});

test.each([
  ["a file that is not there yet", "new.txt", "new.txt"],
  ["folders that are not there yet", "a/b/c.txt", "a/b/c.txt"],
  ["a link to a folder", "to-folder/x", "folder/x"],
  ["a link to a link", "to-link/x", "folder/x"],
  ["a dangling link", "dangling", "nowhere/new"],
  ["below a dangling link", "dangling/x", "nowhere/new/x"],
  ["a dangling link by way of another folder", "folder/up", "sibling"],
])("where %s leads", async (_, path, target) => {
  await using dir = tmp();
  mkdirSync(dir.file("folder"));
  symlinkSync("folder", dir.file("to-folder"));
  symlinkSync("to-folder", dir.file("to-link"));
  symlinkSync(dir.file("nowhere/new"), dir.file("dangling"));
  symlinkSync("../sibling", dir.file("folder/up"));
  expect(realTarget(dir.file(path))).toBe(dir.file(target));
});

test("a loop of links is an error, not a hang", async () => {
  await using dir = tmp();
  symlinkSync("b", dir.file("a"));
  symlinkSync("a", dir.file("b"));
  expect(() => realTarget(dir.file("a"))).toThrow("ELOOP");
  expect(() => realTarget(dir.file("a/x"))).toThrow("ELOOP");
});

test("a file is the same by whichever way one comes to it, unless it is not there", async () => {
  await using dir = tmp();
  mkdirSync(dir.file("folder"));
  symlinkSync("folder", dir.file("link"));
  expect(isSameFile(dir.file("link"), dir.file("folder"))).toBe(true);
  expect(isSameFile(dir.file("link"), dir.path)).toBe(false);
  expect(isSameFile(dir.file("missing"), dir.file("missing"))).toBe(false);
});
