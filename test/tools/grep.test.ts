// Each search runs twice: with ripgrep on the PATH, and without. What is shown has to be the same.
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { createGrep, grep } from "../../src/tools/grep.ts";
import { liveGroups } from "../../src/util/process-group.ts";
import { type CallOptions, callText } from "../helpers/call-tool.ts";
import { createRandom } from "../helpers/random-text.ts";
import { tmp } from "../helpers/tmp.ts";
import { plant, type Tree } from "../helpers/tree.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const ripgrep = Bun.which("rg");
const noRipgrep = "there is no ripgrep on this machine";
const ways: readonly { name: string; options: CallOptions; missing: boolean }[] = [
  { name: ripgrep ? "with ripgrep" : `with ripgrep (skipped: ${noRipgrep})`, options: {}, missing: !ripgrep },
  { name: "without ripgrep", options: { env: { PATH: "/nowhere" } }, missing: false },
];

interface Case {
  readonly shows: string;
  readonly tree: Tree;
  readonly args: Record<string, unknown>;
  readonly output: readonly string[];
}

const long = `${"a".repeat(1000)}NEEDLE${"b".repeat(1000)}`;
const latin1 = new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x20, 0x78, 0x79, 0x7a, 0x0a]);
const utf16 = new Uint8Array([0xff, 0xfe, 0x78, 0, 0x79, 0, 0x7a, 0, 0x0a, 0]);
const none = (files: number) => [`No matches in . (${files} file${files === 1 ? "" : "s"} searched)`];

const lines: readonly Case[] = [
  {
    shows: "matches in order of path and line",
    tree: { "b.txt": "xyz\n", "a/z": "no\nxyz 1\nxyz 2\n", "a.txt": "xyz\n", a0: "xyz\n", "a-/f": "xyz\n" },
    args: { pattern: "xyz" },
    output: ["a/z:2: xyz 1", "a/z:3: xyz 2", "a-/f:1: xyz", "a.txt:1: xyz", "a0:1: xyz", "b.txt:1: xyz"],
  },
  {
    shows: "names in the order of their bytes",
    tree: { "\u{1f600}": "xyz\n", "\uff5e": "xyz\n", é: "xyz\n", Z: "xyz\n" },
    args: { pattern: "xyz" },
    output: ["Z:1: xyz", "é:1: xyz", "\uff5e:1: xyz", "\u{1f600}:1: xyz"],
  },
  {
    shows: "lines without their CR, matched at their end",
    tree: { f: "xyz\r\nxyz \r\nxyz" },
    args: { pattern: "xyz$" },
    output: ["f:1: xyz", "f:3: xyz"],
  },
  {
    shows: "the first line without its byte order mark",
    tree: { f: "\ufeffxyz\n" },
    args: { pattern: "^xyz" },
    output: ["f:1: xyz"],
  },
  {
    shows: "bytes that are no UTF-8 as a replacement character",
    tree: { f: latin1 },
    args: { pattern: "caf. xyz" },
    output: ["f:1: caf\ufffd xyz"],
  },
  {
    shows: "nothing of an empty file, which is searched all the same",
    tree: { f: "" },
    args: { pattern: "xyz" },
    output: none(1),
  },
  {
    shows: "an empty line for a pattern that matches nothing",
    tree: { f: "a\n\nb\n" },
    args: { pattern: "^$" },
    output: ["f:2: "],
  },
  {
    shows: "nothing of binary files",
    tree: { "a.bin": "xyz\0xyz\n", "b.utf16": utf16 },
    args: { pattern: "xyz" },
    output: none(2),
  },
  {
    shows: "a window of a long line",
    tree: { f: `${long}\n` },
    args: { pattern: "NEEDLE" },
    output: [`f:1: ...${"a".repeat(134)}NEEDLE${"b".repeat(60)}... <columns 867-1066 of 2006>`],
  },
  {
    shows: "a window at the start of a long line",
    tree: { f: `NEEDLE${"b".repeat(1000)}\n` },
    args: { pattern: "NEEDLE" },
    output: [`f:1: NEEDLE${"b".repeat(194)}... <columns 1-200 of 1006>`],
  },
  {
    shows: "a window that splits no character",
    tree: { f: `${"😀".repeat(500)}NEEDLE${"😀".repeat(500)}\n` },
    args: { pattern: "NEEDLE" },
    output: [`f:1: ...${"😀".repeat(67)}NEEDLE${"😀".repeat(30)}... <columns 867-1066 of 2006>`],
  },
  {
    shows: "the lines around a match",
    tree: { f: "1\n2\nxyz\n4\n5\n6\nxyz\nxyz\n9\n", g: "xyz\n" },
    args: { pattern: "xyz", context: 1 },
    output: ["f-2- 2", "f:3: xyz", "f-4- 4", "--", "f-6- 6", "f:7: xyz", "f:8: xyz", "f-9- 9", "--", "g:1: xyz"],
  },
  {
    shows: "long lines around a match by their beginning",
    tree: { f: `${long}\nxyz\n` },
    args: { pattern: "xyz", context: 2 },
    output: [`f-1- ${"a".repeat(200)}... <long line>`, "f:2: xyz"],
  },
  {
    shows: "as many matches as the limit, and that there are more",
    tree: { f: "xyz\nxyz\n", g: "xyz\n" },
    args: { pattern: "xyz", limit: 2 },
    output: [
      "f:1: xyz",
      "f:2: xyz",
      "... more matches exist; these are the first 2. Narrow it with path, glob or the pattern, or raise limit",
    ],
  },
  {
    shows: "just as many matches as the limit",
    tree: { f: "xyz\nxyz\n", g: "no\n" },
    args: { pattern: "xyz", limit: 2 },
    output: ["f:1: xyz", "f:2: xyz"],
  },
  {
    shows: "a name with a line break as one line",
    tree: { "a\nb": "xyz\n" },
    args: { pattern: "xyz" },
    output: ['"a\\nb":1: xyz'],
  },
  {
    shows: "names that look like options",
    tree: { "-v": "xyz\n", "--": "xyz\n" },
    args: { pattern: "xyz" },
    output: ["--:1: xyz", "-v:1: xyz"],
  },
];

const patterns: readonly Case[] = [
  ...(
    [
      ["plain text", { pattern: "a.c(", literal: true }, "abc(\na.c(\n", [2]],
      ["plain text that looks like an option", { pattern: "-e x", literal: true }, "-e x\n", [1]],
      ["any case", { pattern: "strasse|ÉTÉ", ignore_case: true }, "STRASSE\nété\nStraße\n", [1, 2]],
      ["any case of plain text", { pattern: "K[", literal: true, ignore_case: true }, "k[\n\u212a[\n", [1, 2]],
      ["any case by a flag", { pattern: "(?i)abc" }, "ABC\n", [1]],
      ["any case in a group only", { pattern: "(?i:ab)c" }, "ABc\nABC\n", [1]],
      ["one of several texts", { pattern: "foo|bar(baz)?|qu+x" }, "foo\nbar\nquux\nqx\n", [1, 2, 3]],
      ["a number of times", { pattern: "^a{2,3}$" }, "a\naa\naaa\naaaa\n", [2, 3]],
      ["braces that are no count", { pattern: "fn() {", literal: false }, "fn {\n", [1]],
      ["word boundaries in any script", { pattern: "\\bété\\b" }, "été\nétés\nl'été!\n", [1, 3]],
      ["the inside of words", { pattern: "\\Bx\\B" }, "x\naxa\nax\n", [2]],
      ["sets", { pattern: "^[^\\d\\s]+[[:upper:]]$" }, "abC\na1C\nab\n", [1]],
      ["properties", { pattern: "^\\p{Greek}+\\PL$" }, "αβ1\nab1\n", [1]],
      ["escapes", { pattern: "\\x41\\u{1F600}\\t\\/\\-" }, "A😀\t/-\n", [1]],
      ["characters beyond the basic plane as one", { pattern: "^.{2}$" }, "😀😀\n😀\n", [1]],
      ["nothing by backtracking", { pattern: "^(a+)+$" }, `${"a".repeat(3000)}b\n${"a".repeat(3000)}\n`, [2]],
    ] as const
  ).map(([shows, args, content, found]) => ({
    shows,
    tree: { f: content },
    args,
    output: found.map((line) => `f:${line}: ${shownLine(content.split("\n")[line - 1] ?? "")}`),
  })),
];

function shownLine(line: string): string {
  return line.length <= 300
    ? line
    : `...${line.slice(-200)} <columns ${line.length - 199}-${line.length} of ${line.length}>`;
}

const project: Tree = {
  ".git/config": "xyz\n",
  ".git/info/exclude": "secret\n",
  ".gitignore": "build/\n*.log\n!keep.log\n/top\n",
  ".hidden": "xyz\n",
  ".github/ci.yml": "xyz\n",
  "build/out.js": "xyz\n",
  "a.log": "xyz\n",
  "keep.log": "xyz\n",
  top: "xyz\n",
  "src/top": "xyz\n",
  "src/.gitignore": "*.gen.ts\n!/a.log\n",
  "src/a.log": "xyz\n",
  "src/b.log": "xyz\n",
  "src/x.gen.ts": "xyz\n",
  "src/x.ts": "xyz\n",
  secret: "xyz\n",
  ".ignore": "vendor\n!b.log\n",
  "vendor/v.js": "xyz\n",
  "sub/.git": "gitdir: elsewhere\n",
  "sub/a.log": "xyz\n",
  "link.ts": { link: "src/x.ts" },
  linked: { link: "src" },
};
const whole = ["keep.log", "src/a.log", "src/b.log", "src/top", "src/x.ts", "sub/a.log"];
const trees: readonly Case[] = (
  [
    ["the files that nothing ignores", {}, whole],
    [
      "a folder below a repository, by the rules above it",
      { path: "src" },
      whole.filter((path) => path.startsWith("src/")),
    ],
    ["a folder by its absolute path", { path: "ABSOLUTE/src" }, whole.filter((path) => path.startsWith("src/"))],
    ["an ignored folder that is named", { path: "build" }, ["build/out.js"]],
    ["an ignored file that is named", { path: "a.log" }, ["a.log"]],
    ["a hidden file that is named", { path: "./.hidden" }, [".hidden"]],
    ["a link that is named", { path: "link.ts" }, ["link.ts"]],
    [
      "a linked folder that is named",
      { path: "linked" },
      ["linked/a.log", "linked/b.log", "linked/top", "linked/x.ts"],
    ],
    ["files of a name", { glob: "*.log" }, ["keep.log", "src/a.log", "src/b.log", "sub/a.log"]],
    ["files of a path", { glob: "src/**" }, ["src/a.log", "src/b.log", "src/top", "src/x.ts"]],
    ["files of a path below the searched folder", { path: "src", glob: "x.*" }, ["src/x.ts"]],
    ["files of a path given from the working directory", { path: "src", glob: "src/*.ts" }, ["src/x.ts"]],
    ["files of several kinds", { glob: "*.{ts,js}" }, ["src/x.ts"]],
    ["files but for some", { glob: "!*.log" }, ["src/top", "src/x.ts"]],
    ["hidden files that a glob names", { glob: ".github/**" }, [".github/ci.yml"]],
  ] as const
).map(([shows, args, found]) => ({
  shows,
  tree: project,
  args: { pattern: "xyz", ...args },
  output: found.map((path) => `${path}:1: xyz`),
}));

for (const { name, options, missing } of ways) {
  describe.skipIf(missing)(name, () => {
    for (const [group, cases] of Object.entries({ lines, patterns, trees })) {
      test.each(cases.map((one) => [one.shows, one] as const))(`${group}: %s`, async (_, { tree, args, output }) => {
        await using dir = plant(tree);
        const given = JSON.parse(JSON.stringify(args).replaceAll("ABSOLUTE", dir.path));
        expect(await callText(grep, dir.path, given, options)).toBe(output.join("\n"));
      });
    }

    test("a file larger than a piece is searched to its end, numbered and with context", async () => {
      const filler = `${"filler ".repeat(10)}\n`.repeat(40_000);
      await using dir = plant({ f: `xyz\n${filler}before\nxyz\nafter\n${filler}xyz` });
      expect(await callText(grep, dir.path, { pattern: "xyz", context: 1 }, options)).toBe(
        [
          ...["f:1: xyz", `f-2- ${"filler ".repeat(10)}`, "--", "f-40002- before", "f:40003: xyz", "f-40004- after"],
          ...["--", `f-80004- ${"filler ".repeat(10)}`, "f:80005: xyz"],
        ].join("\n"),
      );
    });

    test("a megabyte without a line break gives a window", async () => {
      await using dir = plant({ "min.js": `${"x=1;".repeat(300_000)}needle()${"y=2;".repeat(300_000)}` });
      for (const pattern of ["needle", "n[e]+dl."]) {
        expect(await callText(grep, dir.path, { pattern }, options)).toMatch(
          /^min\.js:1: \.\.\.[x=1;]{130,140}needle\(\)[y=2;]{50,60}\.\.\. <columns \d+-\d+ of 2400008>$/,
        );
      }
    });

    test("lines of many megabytes are searched to their end, with the right numbers behind them", async () => {
      const huge = "x=1;".repeat(2_500_000);
      await using dir = plant({ f: `first\n${huge}needle${huge}\nneedle\nlast\n` });
      const text = await callText(grep, dir.path, { pattern: "needle", context: 1 }, options);
      expect(text.split("\n").map((line) => line.slice(0, 20))).toEqual([
        ...["f-1- first", "f:2: ...1;x=1;x=1;x=", "f:3: needle", "f-4- last"],
      ]);
    });

    test("many files go through in order", async () => {
      const names = Array.from({ length: 1200 }, (_, i) => `d${String(i % 7)}/${String(i).padStart(4, "0")}`);
      await using dir = plant(Object.fromEntries(names.map((path, i) => [path, i % 3 === 0 ? "xyz\n" : "no\n"])));
      const found = names.filter((_, i) => i % 3 === 0).sort();
      const text = await callText(grep, dir.path, { pattern: "xyz", limit: 2000 }, options);
      expect(text.split("\n")).toEqual(found.map((path) => `${path}:1: xyz`));
    });

    test("the result fits into what a result may have, and says that it is not all", async () => {
      await using dir = plant({ f: "xyz and more text\n".repeat(1000) });
      const text = await callText(grep, dir.path, { pattern: "xyz", limit: 1000 }, { ...options, maxOutput: 4000 });
      expect(text.length).toBeLessThanOrEqual(4000);
      expect(text).toEndWith(
        "... more matches exist; the output is full with 104 matches. Narrow it with path, glob or the pattern",
      );
    });

    test.skipIf(process.platform !== "linux")("what cannot be read is passed over and noted", async () => {
      await using dir = plant({ "b/f": "xyz\n" });
      // A name that is no UTF-8 cannot be opened by its text, not even by root.
      Bun.spawnSync(["bash", "-c", "mkdir $'a\\xff' && echo xyz > $'c\\xff'"], { cwd: dir.path });
      expect(await callText(grep, dir.path, { pattern: "xyz" }, options)).toBe(
        "b/f:1: xyz\n... 2 paths could not be read: a\ufffd (ENOENT), c\ufffd (ENOENT)",
      );
    });

    test("FIFOs and sockets are never opened, links out of the tree never followed", async () => {
      await using outside = plant({ f: "xyz\n" });
      await using dir = plant({ f: "xyz\n", out: { link: outside.path }, file: { link: outside.file("f") } });
      Bun.spawnSync(["mkfifo", dir.file("p")]);
      using _server = Bun.listen({ unix: dir.file("s"), socket: { data() {} } });
      expect(await callText(grep, dir.path, { pattern: "xyz" }, options)).toBe("f:1: xyz");
    });
  });
}

describe.skipIf(!ripgrep)(ripgrep ? "as ripgrep itself" : `as ripgrep itself (skipped: ${noRipgrep})`, () => {
  const text =
    "abc\nABC\nfoo.bar\nfoo bar\n12 34\n_x1\nété\nΣσς\n\n  indent\na]b\na-b\na\\b\n{}\nx{2}\ntab\there\nI\u0131i\u0130\n\u00a0nbsp\n";

  test.each([
    ...[
      "a.c",
      "^a",
      "c$",
      "^$",
      "^\\s*$",
      "foo\\.bar",
      "foo.bar",
      "\\d+ \\d+",
      "\\w+$",
      "\\W",
      "\\bx1",
      "\\b\\w{3}\\b",
      "\\Bc",
    ],
    ...[
      "[abc]{3}",
      "[^a-z]",
      "[]a]b",
      "[a\\]]b",
      "[-a]-b",
      "[\\w-]+",
      "[[:alpha:]]+ [[:alpha:]]",
      "[[:^alpha:]]",
      "[--b]+",
      "[a&|]+b",
      "\\\\b",
    ],
    ...[
      "(?i)abc",
      "(?i)σ",
      "(?i)i",
      "(?i:A)bc",
      "a(?i)B|foo",
      "(foo|abc)( bar)?$",
      "(?:x|\\{)\\{?\\d?",
      "x\\{2\\}",
      "\\x61b",
      "\\u{e9}t",
    ],
    ...[
      "\\p{Lu}",
      "\\p{Greek}",
      "\\pN",
      "\\P{L}$",
      "é",
      "[é-ü]",
      ".*",
      "(a|b|)c",
      "a*",
      "\\t",
      "\\S\\s\\S",
      "(?P<n>a)b",
      "^(?-i:a)",
    ],
  ])("lines that match %s", async (pattern) => {
    await using dir = plant({ f: text });
    for (const flags of /[A-Zσé]/i.test(pattern.replace(/\\./g, "")) ? [[], ["-i"]] : [[]]) {
      const theirs = Bun.spawnSync(["rg", "--no-config", "--no-filename", "-n", ...flags, "-e", pattern, "f"], {
        cwd: dir.path,
      });
      expect(theirs.stderr.toString()).toBe("");
      const numbers = theirs.stdout
        .toString()
        .split("\n")
        .flatMap((line) => /^\d+/.exec(line) ?? []);
      const ours = await callText(grep, dir.path, { pattern, ignore_case: flags.length > 0 });
      expect(ours.split("\n").flatMap((line) => /^f:(\d+)/.exec(line)?.[1] ?? [])).toEqual(numbers);
    }
  });
});

describe("a pattern that is none is one clear error", () => {
  test.each([
    ["a(b", "a ( is never closed"],
    ["a)b", "a ) was never opened"],
    ["[ab", "a [ is never closed"],
    ["*a", "nothing to repeat before *a"],
    ["a{3,1}", "{3,1} is no range"],
    ["[z-a]", "z-a is no range"],
    ["a\\", "it ends with a lone \\"],
    ["\\y", "unknown escape \\y"],
    ["\\<a", "unknown escape \\<; use \\b"],
    ["[[ab]c]", "sets within a set, &&, -- and ~~ are not supported; write \\[, or a|b"],
    ["[a-z&&[^b]]", "sets within a set, &&, -- and ~~ are not supported; write \\[, or a|b"],
    ["[\\w--\\d]", "sets within a set, &&, -- and ~~ are not supported; write \\[, or a|b"],
    ["[[:foo:]]", "unknown set [:foo:]"],
    ["\\p{Nonsense}", "it has a set of characters that cannot be understood"],
    ["(?x)a", "unknown flag x"],
    ["a(?=b)", "lookahead and lookbehind are not supported; match more, or use bash with grep -P"],
    ["(?<!a)b", "lookahead and lookbehind are not supported; match more, or use bash with grep -P"],
    ["(a)\\1", "backreferences are not supported; use bash with grep -P"],
    ["a{2000}", "more than 1000 repetitions"],
    ["(".repeat(200), "its groups are nested too deeply"],
  ])("%s", async (pattern, problem) => {
    expect(await callText(grep, "/", { pattern })).toBe(`Error: the pattern ${pattern} is not valid: ${problem}`);
  });

  test.each([
    ["a\nb", "a pattern is matched within one line, so it cannot hold a line break; search for one of its lines"],
    ["a\\nb", "a pattern is matched within one line, so it cannot hold a line break; search for one of its lines"],
    ["(a{100}){100}", "the pattern is too large; use fewer or smaller repetitions"],
    ["", "invalid arguments for grep: 'pattern' must not be empty"],
  ])("%j", async (pattern, message) => {
    expect(await callText(grep, "/", { pattern })).toBe(`Error: ${message}`);
  });

  test("repetitions of nothing are nothing", async () => {
    await using dir = plant({ f: "a\n" });
    expect(await callText(grep, dir.path, { pattern: "((((){1000}){1000}){1000}){1000}a" })).toBe("f:1: a");
  });
});

describe("where nothing is found", () => {
  test.each([
    ["the number of files is said", { pattern: "zzz" }, "No matches in . (2 files searched)"],
    ["the glob is said", { pattern: "zzz", glob: "*.ts" }, "No matches in . (glob *.ts) (1 file searched)"],
    [
      "it is said that no file was searched",
      { pattern: "zzz", glob: "*.tsx" },
      "No files to search in . (glob *.tsx); hidden and ignored files are skipped",
    ],
    [
      "a habit of other greps is pointed out",
      { pattern: "foo\\|bar" },
      "No matches in . (2 files searched); note that \\| \\( \\{ \\+ stand for these characters themselves",
    ],
    ["a missing path says what is near", { pattern: "x", path: "srx" }, "Error: srx does not exist; did you mean src?"],
    ["a FIFO is refused", { pattern: "x", path: "p" }, "Error: p is a FIFO, not a file or folder"],
    ["a device is refused", { pattern: "x", path: "/dev/zero" }, "Error: /dev/zero is a device, not a file or folder"],
    [
      "a binary file that was named is refused",
      { pattern: "x", path: "bin" },
      "Error: bin is a binary file; use bash with grep -a",
    ],
  ])("%s", async (_, args, text) => {
    await using dir = plant({ "src/a.ts": "foo\n", ".gitignore": "bin\n", bin: "x\0", b: "bar\n" });
    Bun.spawnSync(["mkfifo", dir.file("p")]);
    expect(await callText(grep, dir.path, args)).toBe(text);
  });
});

describe("what a rule denies", () => {
  const denying = (dir: string) => ({
    deniesPath: (tool: string, path: string) => tool === "grep" && path.startsWith(`${dir}/secret`),
  });

  test.each([
    ["in a walk of everything", {}],
    ["in a walk of its folder", { path: "." }],
    ["by a glob", { glob: "secret*/**" }],
  ])("is not searched %s, and counted", async (_, args) => {
    await using dir = tmp();
    await Bun.write(dir.file("open/a"), "word\n");
    await Bun.write(dir.file("secret/b"), "word\n");
    await Bun.write(dir.file("secret/c"), "word\n");
    const text = await callText(grep, dir.path, { pattern: "word", ...args }, denying(dir.path));
    expect(text).not.toContain("secret/b");
    expect(text).toEndWith("... 2 paths are denied by a rule");
    if (!("glob" in args)) expect(text).toStartWith("open/a:1: word");
  });

  test("is denied under the name of a link to its folder too", async () => {
    await using dir = tmp();
    await Bun.write(dir.file("secret/b"), "word\n");
    symlinkSync("secret", dir.file("alias"));
    const text = await callText(grep, dir.path, { pattern: "word", path: "alias" }, denying(dir.path));
    expect(text).not.toContain("1: word");
    expect(text).toContain("1 path is denied by a rule");
  });
});

test("a folder outside of the working directory is shown by absolute paths", async () => {
  await using outside = plant({ "d/f": "xyz\n" });
  await using dir = plant({});
  expect(await callText(grep, dir.path, { pattern: "xyz", path: outside.path })).toBe(`${outside.path}/d/f:1: xyz`);
  expect(grep.prepare({ pattern: "x", path: outside.path }).paths).toEqual([outside.path]);
  expect(grep.prepare({ pattern: "x" }).paths).toEqual(["."]);
});

describe("a search that takes too long", () => {
  // Nearly each character of the line leads to a state of the automaton that was never seen before, so that no machine is fast enough.
  const random = createRandom(1);
  const hard = { f: `${Array.from({ length: 2_000_000 }, () => "ab"[random(2)]).join("")}cb\n`, g: "aac\n" };
  const args = { pattern: "a.{20}c$" };

  test("ends with its time, and keeps what it found", async () => {
    await using dir = plant({ a: "abbbbbbbbbbbbbbbbbbbbc\n", ...hard });
    expect(await callText(createGrep(100), dir.path, args)).toBe(
      "a:1: abbbbbbbbbbbbbbbbbbbbc\n... stopped after 0.1 s; this is what was found until then",
    );
  });

  test("ends at once when the run is aborted", async () => {
    await using dir = plant(hard);
    const controller = new AbortController();
    const running = callText(grep, dir.path, args, { signal: controller.signal });
    setImmediate(() => controller.abort());
    const started = performance.now();
    expect(running).rejects.toThrow("abort");
    await running.catch(() => {});
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test("takes a ripgrep that hangs with it", async () => {
    await using dir = plant({ f: "xyz\n" });
    await using tools = plant({ rg: "#!/bin/bash\necho $$ > $(/usr/bin/dirname $0)/started\nexec sleep 1000\n" });
    chmodSync(tools.file("rg"), 0o755);
    const controller = new AbortController();
    const options = { env: { PATH: tools.path }, signal: controller.signal };
    const running = callText(grep, dir.path, { pattern: "xyz" }, options);
    const pid = () => Number(existsSync(tools.file("started")) && readFileSync(tools.file("started"), "utf8"));
    await waitUntil(() => pid() > 0, "ripgrep runs");
    controller.abort();
    expect(running).rejects.toThrow("abort");
    await waitUntil(() => !liveGroups().includes(pid()), "its group is gone");
  });
});

describe("a ripgrep that is of no use changes nothing", () => {
  test.each([
    ["fails", "#!/bin/sh\nexit 2\n", true],
    ["cannot be started", "no program\n", true],
    ["lies in the working directory and is not run", "#!/bin/sh\necho ran > ran\nexit 1\n", false],
  ])("when it %s", async (_, script, isOutside) => {
    await using dir = plant({ f: "xyz\n" });
    await using tools = plant({ "bin/rg": script });
    chmodSync(tools.file("bin/rg"), 0o755);
    const cwd = isOutside ? dir.path : tools.path;
    await Bun.write(`${cwd}/f`, "xyz\n");
    const options = { env: { PATH: tools.file("bin") } };
    expect(await callText(grep, cwd, { pattern: "xyz", glob: "f" }, options)).toBe("f:1: xyz");
    expect(existsSync(`${cwd}/ran`)).toBe(false);
  });
});
