// A path that leads elsewhere than when the gate judged it.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { edit } from "../../src/tools/edit.ts";
import { find } from "../../src/tools/find.ts";
import { grep } from "../../src/tools/grep.ts";
import { ls } from "../../src/tools/ls.ts";
import { read } from "../../src/tools/read.ts";
import { openPlainFile } from "../../src/tools/search/plain-file.ts";
import { sortedEntries } from "../../src/tools/search/walk.ts";
import { write } from "../../src/tools/write.ts";
import { callText } from "../helpers/call-tool.ts";
import { tmp } from "../helpers/tmp.ts";

test.each([
  ["read", read, { path: "d/f" }, "other/f"],
  ["edit", edit, { path: "d/f", old_string: "secret", new_string: "x" }, "other/f"],
  ["write", write, { path: "d/f", content: "x" }, "other/f"],
  ["write of a new file", write, { path: "d/new", content: "x" }, "other/new"],
  ["grep in a file", grep, { path: "d/f", pattern: "secret" }, "other/f"],
  ["grep", grep, { path: "d", pattern: "secret" }, "other"],
  ["find", find, { path: "d", pattern: "*" }, "other"],
  ["ls", ls, { path: "d" }, "other"],
])("%s neither shows nor changes what is there", async (_, tool, args, real) => {
  await using dir = tmp();
  mkdirSync(dir.file("other"));
  writeFileSync(dir.file("other/f"), "secret\n");
  symlinkSync("other", dir.file("d"));
  const judged = dir.file("d") + args.path.slice(1);
  const told = await callText(tool, dir.path, args, { isJudged: (path) => path === judged });
  expect(told).toBe(`Error: ${args.path} has just come to lead elsewhere: ${dir.file(real)}`);
  expect(readdirSync(dir.file("other"))).toEqual(["f"]);
  expect(readFileSync(dir.file("other/f"), "utf8")).toBe("secret\n");
});

test("a name that ends as Linux marks what was removed is as good as any", async () => {
  await using dir = tmp();
  const path = dir.file("f (deleted)");
  writeFileSync(path, "here\n");
  expect(await callText(read, dir.path, { path }, { isJudged: (real) => real === path })).toBe("     1\there");
});

test.if(process.platform === "linux")(
  "a search opens nothing behind a link that has taken a folder's place",
  async () => {
    await using dir = tmp();
    mkdirSync(dir.file("other"));
    writeFileSync(dir.file("other/f"), "secret\n");
    symlinkSync("other", dir.file("d"));
    await expect(openPlainFile(dir.file("d/f"))).rejects.toMatchObject({ code: "ESTALE" });
    await (await openPlainFile(dir.file("other/f"))).close();
    await expect(sortedEntries(dir.file("d"))).rejects.toMatchObject({ code: "ESTALE" });
    expect((await sortedEntries(dir.file("other"))).map(({ name }) => name)).toEqual(["f"]);
  },
);
