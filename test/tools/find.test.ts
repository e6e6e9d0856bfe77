import { describe, expect, test } from "bun:test";
import { createFind, find } from "../../src/tools/find.ts";
import { callText } from "../helpers/call-tool.ts";
import { tmp } from "../helpers/tmp.ts";
import { plant, type Tree } from "../helpers/tree.ts";

const project: Tree = {
  ".git/info/exclude": "secret\n",
  ".gitignore": "dist/\n",
  ".env": "",
  ".github/workflows/ci.yml": "",
  "dist/a.ts": "",
  secret: "",
  Makefile: "",
  "src/a.ts": "",
  "src/a.test.ts": "",
  "src/deep/er/b.test.ts": "",
  "src-old/c.ts": "",
  "test/d.tsx": "",
  link: { link: "src" },
};

describe("a glob finds", () => {
  test.each([
    ["names at any depth", { pattern: "*.ts" }, ["src/a.test.ts", "src/a.ts", "src/deep/er/b.test.ts", "src-old/c.ts"]],
    ["one name", { pattern: "Makefile" }, ["Makefile"]],
    ["paths", { pattern: "src/**/*.test.ts" }, ["src/a.test.ts", "src/deep/er/b.test.ts"]],
    ["paths at any depth", { pattern: "**/er/*" }, ["src/deep/er/b.test.ts"]],
    ["paths below the searched folder", { pattern: "deep/**/*.ts", path: "src" }, ["src/deep/er/b.test.ts"]],
    ["paths given from the working directory", { pattern: "./src/*.ts", path: "src" }, ["src/a.test.ts", "src/a.ts"]],
    ["absolute paths", { pattern: "ABSOLUTE/src/*.ts" }, ["src/a.test.ts", "src/a.ts"]],
    ["folders, with a slash", { pattern: "src*" }, ["src/", "src-old/"]],
    ["nothing but folders for a slash at the end", { pattern: "**/*e*/" }, ["src/deep/", "src/deep/er/", "test/"]],
    ["one of several", { pattern: "*.{tsx,yml}" }, ["test/d.tsx"]],
    ["one of a range", { pattern: "[c-d].*" }, ["src-old/c.ts", "test/d.tsx"]],
    [
      "everything but",
      { pattern: "!*.ts" },
      ["Makefile", "link", "src/", "src/deep/", "src/deep/er/", "src-old/", "test/", "test/d.tsx"],
    ],
    ["links, without what is behind them", { pattern: "l*" }, ["link"]],
    ["what is behind a link that is named", { pattern: "a.ts", path: "link" }, ["link/a.ts"]],
    ["hidden files that it names", { pattern: ".env*" }, [".env"]],
    ["hidden paths that it names", { pattern: ".github/**/*.yml" }, [".github/workflows/ci.yml"]],
    ["ignored files in a folder that is named", { pattern: "*.ts", path: "dist" }, ["dist/a.ts"]],
  ])("%s", async (_, args, found) => {
    await using dir = plant(project);
    const given = JSON.parse(JSON.stringify(args).replaceAll("ABSOLUTE", dir.path));
    expect(await callText(find, dir.path, given)).toBe(found.join("\n"));
  });
});

describe("what is ignored is the same as", () => {
  const tree: Tree = {
    ".gitignore": [
      "# a comment\r\nnode_modules\n*.log\n!important.log\n/only-top\nsub/exact\ndocs/**/*.pdf\n**/gen\nspace \nkept\\ \n\\#hash\n\\!bang\n",
      "fold/\nq?.txt\n[a-c]set\n[!a]x\ntrail/**\na**z\n{br,ace}\nüml*\n/x/*\n!/x/keep\n\n   \n!\n/\n",
    ].join(""),
    "nest/.gitignore": "!*.log\n/local\ndeeper/skip\n",
    "nest/deeper/.gitignore": "*.log\n!/back.log\n",
    ...Object.fromEntries(
      [
        ...[
          "node_modules/a",
          "p/node_modules/b",
          "a.log",
          "important.log",
          "only-top",
          "p/only-top",
          "sub/exact",
          "p/sub/exact",
        ],
        ...[
          "docs/a.pdf",
          "docs/b/c/a.pdf",
          "p/docs/a.pdf",
          "gen",
          "p/gen/x",
          "space",
          "kept ",
          "#hash",
          "!bang",
          "fold/x",
          "p/fold",
        ],
        ...[
          "q1.txt",
          "q10.txt",
          "aset",
          "dset",
          "ax",
          "bx",
          "trail/t",
          "p/trail/t",
          "abz",
          "a/z",
          "br",
          "{br,ace}",
          "ümlaut",
          "x/a",
        ],
        ...[
          "x/keep/k",
          "nest/b.log",
          "nest/local",
          "nest/p/local",
          "nest/deeper/skip/s",
          "nest/deeper/c.log",
          "nest/deeper/back.log",
        ],
      ].map((path) => [path, ""]),
    ),
  };
  const visible = (paths: string) =>
    paths
      .split("\0")
      .filter((path) => path !== "" && !/(?:^|\/)\./.test(path))
      .sort();
  const found = async (cwd: string) => {
    const lines = (await callText(find, cwd, { pattern: "**" })).split("\n");
    return lines.filter((line) => !line.endsWith("/")).sort();
  };

  test.skipIf(!Bun.which("git"))("git's answer (needs git)", async () => {
    await using dir = plant(tree);
    Bun.spawnSync(["git", "init", "-q"], { cwd: dir.path });
    await Bun.write(dir.file(".git/info/exclude"), "p/trail\n");
    const command = ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"];
    const theirs = Bun.spawnSync(command, { cwd: dir.path }).stdout.toString();
    expect(await found(dir.path)).toEqual(visible(theirs));
  });

  test.skipIf(!Bun.which("rg"))("ripgrep's answer, `.ignore` files included (needs ripgrep)", async () => {
    await using dir = plant({
      ...tree,
      // Unlike git, ripgrep 13 drops the whole file for a lone exclamation mark, and takes braces for alternatives.
      ".gitignore": `${tree[".gitignore"]}`.replace(/^(?:!|\{.*)\n/gm, ""),
      ".git/HEAD": "",
      ".ignore": "!*.log\nq10.txt\n",
      "nest/.ignore": "b.log\n",
      "p/inner/.git/HEAD": "",
      "p/inner/a.log": "",
      "p/inner/q1.txt": "",
    });
    const command = ["rg", "--no-config", "--no-ignore-global", "--files", "--null"];
    expect(await found(dir.path)).toEqual(visible(Bun.spawnSync(command, { cwd: dir.path }).stdout.toString()));
  });

  test("of the rules above the searched folder, up to the repository's root and no further", async () => {
    await using dir = plant({
      ".gitignore": "*.ts\n",
      "repo/.git/HEAD": "",
      "repo/.gitignore": "*.log\n",
      "repo/a/b/x.log": "",
      "repo/a/b/x.ts": "",
    });
    expect(await callText(find, dir.file("repo/a"), { pattern: "x*", path: "b" })).toBe("b/x.ts");
  });

  test("of `.gitignore` files from the working directory on, where there is no repository", async () => {
    await using dir = plant({
      "work/.gitignore": "*.log\n",
      "work/b/x.log": "",
      "work/b/x.ts": "",
      ".gitignore": "*.ts",
    });
    expect(await callText(find, dir.file("work"), { pattern: "x*", path: "b" })).toBe("b/x.ts");
  });

  test("of no rule file that is a FIFO or a link", async () => {
    await using dir = plant({ x: "", rules: "x\n", ".ignore": { link: "rules" } });
    Bun.spawnSync(["mkfifo", dir.file(".gitignore")]);
    expect(await callText(find, dir.path, { pattern: "x" })).toBe("x");
  });
});

describe("a result", () => {
  const many: Tree = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${String(i).padStart(2, "0")}`, ""]));

  test("has as many paths as the limit, and says how many more there are", async () => {
    await using dir = plant(many);
    expect(await callText(find, dir.path, { pattern: "f*", limit: 2 })).toBe(
      "f00\nf01\n... 28 more; narrow it with path or a longer pattern",
    );
    expect(await callText(find, dir.path, { pattern: "f*", limit: 30 })).toEndWith("f28\nf29");
  });

  test("fits into what a result may have", async () => {
    await using dir = plant(many);
    expect(await callText(find, dir.path, { pattern: "f*" }, { maxOutput: 1513 })).toBe(
      "f00\nf01\nf02\n... 27 more; narrow it with path or a longer pattern",
    );
  });

  test.each([
    ["nothing", { pattern: "zzz" }, "Nothing matches zzz in .; hidden and ignored files are skipped"],
    ["a missing folder", { pattern: "x", path: "srx" }, "Error: srx does not exist; did you mean src?"],
    ["a file instead of a folder", { pattern: "x", path: "Makefile" }, "Error: Makefile is a file, not a folder"],
    ["a NUL", { pattern: "x", path: "a\0b" }, "Error: a path cannot contain a NUL character"],
  ])("for %s is one clear line", async (_, args, text) => {
    await using dir = plant({ Makefile: "", src: null });
    expect(await callText(find, dir.path, args)).toBe(text);
  });

  test("of a search whose time is over is what was found until then", async () => {
    await using dir = plant(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`d${i}/f`, ""])));
    expect(await callText(createFind(0), dir.path, { pattern: "zzz" })).toEndWith(
      "... stopped after 0 s; this is what was found until then",
    );
  });
});

test("what a rule denies is not listed, and counted", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("a/secret"), "");
  await Bun.write(dir.file("b/open"), "");
  const deniesPath = (tool: string, path: string) => tool === "find" && path.endsWith("/secret");
  expect(await callText(find, dir.path, { pattern: "*" }, { deniesPath })).toBe(
    "a/\nb/\nb/open\n... 1 path is denied by a rule",
  );
});

test("a search that is aborted ends", async () => {
  await using dir = plant(project);
  const signal = AbortSignal.abort(new Error("aborted"));
  expect(callText(find, dir.path, { pattern: "*" }, { signal })).rejects.toThrow("aborted");
});

test.each([
  ["asterisks", "*a".repeat(400)],
  ["alternatives", `${"{a,aa}".repeat(60)}b`],
  ["folders", `${"**/a/".repeat(100)}b`],
])("a glob that is made to take long does not: %s", async (_, pattern) => {
  await using dir = plant({ ["a".repeat(200)]: "", [`${"a/".repeat(60)}c`]: "" });
  expect(await callText(find, dir.path, { pattern })).toStartWith("Nothing matches");
});
