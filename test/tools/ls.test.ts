import { describe, expect, test } from "bun:test";
import { ls } from "../../src/tools/ls.ts";
import { callText } from "../helpers/call-tool.ts";
import { tmp } from "../helpers/tmp.ts";
import { plant } from "../helpers/tree.ts";

describe("a folder", () => {
  test("is listed in order, with everything in it and what it is", async () => {
    await using dir = plant({
      ".git/HEAD": "",
      ".gitignore": "dist/\n*.log\n",
      ".env": "",
      "a-b": "",
      "a/x": "",
      "a.log": "",
      "dist/out.js": "",
      é: "",
      Z: "",
      empty: null,
      dangling: { link: "nowhere" },
      home: { link: "a" },
      "two\nlines": "",
    });
    Bun.spawnSync(["mkfifo", dir.file("pipe")]);
    expect((await callText(ls, dir.path, {})).split("\n")).toEqual([
      ...[".env", ".git/", ".gitignore", "Z", "a/", "a-b", "a.log (ignored)", "dangling -> nowhere", "dist/ (ignored)"],
      ...["empty/", "home -> a", "pipe (not a regular file)", '"two\\nlines"', "é"],
    ]);
  });

  test("may be named in any way", async () => {
    await using dir = plant({ "d/x": "", link: { link: "d" } });
    for (const path of ["d", "./d/", dir.file("d"), "link", "d/../d"]) {
      expect(await callText(ls, dir.path, { path })).toBe("x");
    }
  });

  test("may be empty", async () => {
    await using dir = plant({ d: null });
    expect(await callText(ls, dir.path, { path: "d" })).toBe("d is empty");
  });

  test("with more entries than fit says how many are left", async () => {
    await using dir = plant({ a: "", b: "", c: "", d: "" });
    expect(await callText(ls, dir.path, { limit: 2 })).toBe("a\nb\n... 2 more; raise limit, or use find to narrow it");
    expect(await callText(ls, dir.path, { limit: 4 })).toBe("a\nb\nc\nd");
    expect(await callText(ls, dir.path, {}, { maxOutput: 103 })).toBe(
      "a\n... 3 more; raise limit, or use find to narrow it",
    );
  });
});

test.each([
  ["a file", "f", "f is a file, not a folder; use read"],
  ["a FIFO", "p", "p is a FIFO, not a file or folder"],
  ["a missing folder", "srx", "srx does not exist; did you mean src?"],
  ["what is behind a file", "f/x", "cannot read f/x: a part of the path is not a directory"],
])("%s is one clear error", async (_, path, message) => {
  await using dir = plant({ f: "", src: null });
  Bun.spawnSync(["mkfifo", dir.file("p")]);
  expect(await callText(ls, dir.path, { path })).toBe(`Error: ${message}`);
});

test("what a rule denies is not listed, and counted", async () => {
  await using dir = tmp();
  for (const name of ["open", "secret-1", "secret-2"]) await Bun.write(dir.file(name), "");
  const deniesPath = (tool: string, path: string) => tool === "ls" && path.includes("/secret");
  expect(await callText(ls, dir.path, {}, { deniesPath })).toBe("open\n... 2 paths are denied by a rule");
});

test("the gate is told the folder, or the working directory", () => {
  expect(ls.prepare({ path: "../x" }).paths).toEqual(["../x"]);
  expect(ls.prepare({}).paths).toEqual(["."]);
  expect(ls.access).toBe("read");
});
