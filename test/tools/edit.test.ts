import { describe, expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { edit } from "../../src/tools/edit.ts";
import { callText, previewText } from "../helpers/call-tool.ts";
import { createRandom, randomEdits } from "../helpers/random-text.ts";
import { tmp } from "../helpers/tmp.ts";

type Content = string | Uint8Array;

/** Edits a file `f`: what the tool says, and the bytes of the file afterwards as Latin-1. */
async function editContent(content: Content, old_string: string, new_string: string, more: object = {}) {
  await using dir = tmp();
  await Bun.write(dir.file("f"), content);
  const text = await callText(edit, dir.path, { path: "f", old_string, new_string, ...more });
  return { text, content: readFileSync(dir.file("f"), "utf8"), bytes: readFileSync(dir.file("f"), "latin1") };
}

describe("an edit", () => {
  test.each([
    ["replaces the text", "a\nb\nc\n", "b", "B", "a\nB\nc\n", "Edited f at line 2"],
    ["takes text away", "a\nb\nc\n", "b\n", "", "a\nc\n", "Edited f at line 2"],
    ["puts lines in", "a\nb\n", "a\n", "a\nx\ny\n", "a\nx\ny\nb\n", "Edited f at line 1"],
    ["works without a last line break", "a\nb", "b", "B", "a\nB", "Edited f at line 2"],
    ["keeps a byte order mark out of sight", "\ufeffa\nb\n", "a\nb", "A\nb", "\ufeffA\nb\n", "Edited f at line 1"],
    ["keeps characters beside it", "é😀x€\n", "x", "y", "é😀y€\n", "Edited f at line 1"],
    ["may change half of a pair of surrogates", "😀\n", "😀", "😁", "😁\n", "Edited f at line 1"],
    [
      "inserts dollar signs literally",
      "[X]\n",
      "X",
      "PID=$$ $& $` $' $1 $<n>",
      "[PID=$$ $& $` $' $1 $<n>]\n",
      "Edited f at line 1",
    ],
  ])("%s", async (_, before, from, to, after, text) => {
    expect(await editContent(before, from, to)).toMatchObject({ text, content: after });
  });

  test.each([
    ["all of them", "a.b.c\n.\n", ".", "$&", "a$&b$&c\n$&\n", "Edited f in 3 places, the first at line 1"],
    ["the only one", "a\nb\n", "b", "c", "a\nc\n", "Edited f at line 2"],
    [
      "without looking at what it put in",
      "aaaa\n",
      "a",
      "aa",
      "aaaaaaaa\n",
      "Edited f in 4 places, the first at line 1",
    ],
    ["from left to right where they overlap", "aaa\n", "aa", "b", "ba\n", "Edited f at line 1"],
  ])("with replace_all replaces %s", async (_, before, from, to, after, text) => {
    expect(await editContent(before, from, to, { replace_all: true })).toMatchObject({ text, content: after });
  });
});

describe("line endings", () => {
  test.each([
    ["CRLF is found by LF", "a\r\nb\r\nc\r\n", "a\nb", "a\nB", "a\r\nB\r\nc\r\n"],
    ["CRLF is found by CRLF too", "a\r\nb\r\nc\r\n", "a\r\nb", "a\r\nB", "a\r\nB\r\nc\r\n"],
    ["new lines become CRLF where the file has it", "a\r\nb\r\n", "b", "b\nc\nd", "a\r\nb\r\nc\r\nd\r\n"],
    ["new lines become LF where the file has it", "a\nb\n", "b", "b\r\nc", "a\nb\nc\n"],
    ["new lines follow the majority", "a\r\nb\nc\r\n", "b", "b\nx", "a\r\nb\r\nx\nc\r\n"],
    ["lines that stay keep theirs", "a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", "a\r\nB\nc\r\n"],
    ["lines that stay between changes keep theirs", "a\nb\r\nc\r\nd\n", "a\nb\nc\nd", "A\nb\nc\nD", "A\nb\r\nc\r\nD\n"],
    ["lines around an insertion keep theirs", "a\nb\r\nc\r\n", "a\nb\nc", "a\nb\nx\nc", "a\nb\r\nx\r\nc\r\n"],
    ["a CR that is data stays", "10%\r20%\rdone\nx\n", "x", "y", "10%\r20%\rdone\ny\n"],
    ["a CR that is data is matched as such", "10%\r20%\rdone\n", "%\r20", "%\r25", "10%\r25%\rdone\n"],
    ["a line break alone can go", "a\r\nb\r\n", "a\nb", "ab", "ab\r\n"],
    ["a match may begin at a line break", "a\r\nb\r\n", "\nb", "\nB", "a\r\nB\r\n"],
    ["a match may end at a line break", "a\r\nb\r\n", "a\n", "A\n", "A\r\nb\r\n"],
  ])("%s", async (_, before, from, to, after) => {
    expect((await editContent(before, from, to)).content).toBe(after);
  });

  test("are kept in every place of replace_all", async () => {
    const { content } = await editContent("x\r\ny\nx\ny\r\n", "x\ny", "x\nz", { replace_all: true });
    expect(content).toBe("x\r\nz\nx\nz\r\n");
  });
});

describe("an edit that cannot be done is an error and leaves the file alone", () => {
  const cases: [string, Content, string, string, string][] = [
    ["nothing to look for", "a", "", "x", "'old_string' must not be empty; to write a whole file use write"],
    ["nothing to change", "a", "a", "a", "old_string and new_string are the same"],
    [
      "line endings only",
      "a\r\nb",
      "a\nb",
      "a\r\nb",
      "old_string and new_string differ in line endings only, and edit keeps those of the file",
    ],
    [
      "several places",
      "x\ny\nx\n",
      "x",
      "z",
      "old_string occurs 2 times in f (lines 1, 3); add surrounding lines to make it unique, or set replace_all",
    ],
    [
      "places that overlap",
      "}\n}\n}\n",
      "}\n}\n",
      "}\n",
      "old_string occurs 2 times in f (lines 1, 2); add surrounding lines to make it unique, or set replace_all",
    ],
    [
      "very many places",
      "x\n".repeat(50),
      "x",
      "z",
      "old_string occurs 50 times in f (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …); add surrounding lines to make it unique, or set replace_all",
    ],
    [
      "no place, with what is near",
      "function alpha() {\n  return 1;\n}\nfunction alpha2() {\n}\n",
      "function alpha () {\n  return 2;",
      "",
      "old_string is not in f. Nearest lines:\n     1\tfunction alpha() {\n     4\tfunction alpha2() {",
    ],
    ["no place and nothing near", "abc\n", "xyz", "", "old_string is not in f"],
    ["an empty file", "", "x", "y", "old_string is not in f"],
    [
      "Latin-1",
      new Uint8Array([0x78, 0x20, 0x3d, 0x20, 0x31, 0x0a, 0x63, 0x61, 0x66, 0xe9, 0x0a]),
      "x = 1",
      "x = 2",
      "f is not valid UTF-8",
    ],
  ];
  test.each(cases)("%s", async (_, before, old_string, new_string, message) => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), before);
    const bytes = readFileSync(dir.file("f"));
    const args = { path: "f", old_string, new_string };
    const expected = `Error: ${message}`;
    expect(await callText(edit, dir.path, args)).toBe(expected);
    expect(readFileSync(dir.file("f"))).toEqual(bytes);
    expect(await previewText(edit, dir.path, args)).toBe(expected);
  });

  test.each([
    ["a directory", "d", "d is a directory, not a regular file"],
    ["a FIFO", "p", "p is a FIFO, not a regular file"],
    ["a device", "/dev/zero", "/dev/zero is a device, not a regular file"],
    ["a missing file", "config.jsn", "config.jsn does not exist; did you mean config.json?"],
  ])("%s", async (_, path, message) => {
    await using dir = tmp();
    mkdirSync(dir.file("d"));
    Bun.spawnSync(["mkfifo", dir.file("p")]);
    await Bun.write(dir.file("config.json"), "");
    expect(await callText(edit, dir.path, { path, old_string: "a", new_string: "b" })).toBe(`Error: ${message}`);
  });

  test("a hint is found in bounded time in a large file", async () => {
    const started = performance.now();
    const { text } = await editContent(
      `${"some line of a large file that is similar\n".repeat(200_000)}`,
      "some lime of a large file that is dissimilar",
      "",
    );
    expect(text).toStartWith("Error: old_string is not in f. Nearest lines:\n     1\tsome line");
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

describe("several edits in one call", () => {
  const edits = (...pairs: [string, string][]) => pairs.map(([old_string, new_string]) => ({ old_string, new_string }));

  test.each([
    [
      "in the order of the file",
      edits(["a", "A"], ["c", "C"]),
      "A\r\nb\r\nC\r\n",
      "Edited f in 2 places, the first at line 1",
    ],
    ["in any order", edits(["c", "C"], ["a", "A"]), "A\r\nb\r\nC\r\n", "Edited f in 2 places, the first at line 1"],
    [
      "side by side",
      edits(["a\n", "A\n"], ["b\nc", "B\nC"]),
      "A\r\nB\r\nC\r\n",
      "Edited f in 2 places, the first at line 1",
    ],
    ["that swap", edits(["a", "c"], ["c", "a"]), "c\r\nb\r\na\r\n", "Edited f in 2 places, the first at line 1"],
    ["of only one", edits(["b", "B"]), "a\r\nB\r\nc\r\n", "Edited f at line 2"],
    [
      "with one for all places",
      [{ old_string: "\n", new_string: ";\n", replace_all: true }, ...edits(["b", "B"])],
      "a;\r\nB;\r\nc;\r\n",
      "Edited f in 4 places, the first at line 1",
    ],
  ])("are made %s", async (_, list, after, text) => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), "a\r\nb\r\nc\r\n");
    const args = { path: "f", edits: list };
    expect(await callText(edit, dir.path, args)).toBe(text);
    expect(readFileSync(dir.file("f"), "utf8")).toBe(after);
  });

  test.each([
    ["one is not there", { edits: edits(["a", "A"], ["x1", "y"]) }, "no edit was made: edit 2: old_string is not in f"],
    [
      "one depends on another",
      { edits: edits(["a", "x"], ["x", "y"]) },
      "no edit was made: edit 2: old_string is not in f",
    ],
    [
      "several are wrong",
      { edits: edits(["q1", ""], ["b", "b"], ["c\n", "c\r\n"], ["a", "A"], ["z", ""]) },
      "no edit was made:\nedit 1: old_string is not in f\nedit 2: old_string and new_string are the same\n" +
        "edit 3: old_string and new_string differ in line endings only, and edit keeps those of the file\n" +
        "edit 5: old_string occurs 2 times in f (lines 4, 5); add surrounding lines to make it unique, or set replace_all",
    ],
    [
      "two overlap",
      { edits: edits(["c", "C"], ["a\nb", "x"], ["b", "y"]) },
      "no edit was made: edits 2 and 3 overlap; make one edit of them",
    ],
    [
      "both forms are given",
      { old_string: "a", new_string: "b", edits: edits(["b", "c"]) },
      "give either old_string and new_string, or edits, not both",
    ],
    ["no form is given", {}, "give old_string and new_string, or edits with at least one { old_string, new_string }"],
    [
      "the list is empty",
      { edits: [] },
      "give old_string and new_string, or edits with at least one { old_string, new_string }",
    ],
    ["the old text is missing", { new_string: "b" }, "'old_string' is missing"],
    ["the new text is missing", { old_string: "b" }, "'new_string' is missing"],
    [
      "the list holds something else",
      { edits: [{ old_string: "a", new_string: "b", path: "g" }] },
      "invalid arguments for edit: unknown field 'path'",
    ],
    [
      "an old text in the list is empty",
      { edits: edits(["a", "b"], ["", "b"]) },
      "invalid arguments for edit: 'edits.1.old_string' must not be empty",
    ],
    ["the list is a text", { edits: "[]" }, "invalid arguments for edit: 'edits' must be an array"],
  ])("are none where %s", async (_, args, message) => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), "a\nb\nc\nz\nz\n");
    expect(await callText(edit, dir.path, { path: "f", ...args })).toBe(`Error: ${message}`);
    expect(readFileSync(dir.file("f"), "utf8")).toBe("a\nb\nc\nz\nz\n");
  });

  test.each([
    ["one edit", { old_string: "b", new_string: "B", edits: [] }],
    ["a list", { old_string: "", new_string: "", replace_all: false, edits: edits(["b", "B"]) }],
  ])("leave the fields of the other form empty: %s", async (_, args) => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), "a\nb\n");
    expect(await callText(edit, dir.path, { path: "f", ...args })).toBe("Edited f at line 2");
  });
});

test.each(["\ufeff", "\ufeffa", "\ufeffa\nb"])(
  "%j is not found at a byte order mark, which is no part of the text",
  async (wanted) => {
    const { text, content } = await editContent("\ufeffa\nb\n", wanted, "x");
    expect(text).toStartWith("Error: old_string is not in f");
    expect(content).toBe("\ufeffa\nb\n");
  },
);

test("whatever the file and the edits, the bytes outside their places are the same", async () => {
  await using dir = tmp();
  let made = 0;
  for (let seed = 1; made < 150; seed++) {
    const given = randomEdits(createRandom(seed));
    // A byte order mark is no part of the text.
    if (!given || given.edits.some(({ wanted }) => wanted.includes("\ufeff"))) continue;
    const { text, edits, expected } = given;
    await Bun.write(dir.file("f"), text);
    // Half a pair of surrogates cannot be written as UTF-8, and is not asked for by a model either.
    const list = edits.map(({ wanted, replacement }) => ({ old_string: wanted, new_string: replacement }));
    const [first] = list;
    const args = list.length === 1 ? { path: "f", ...first } : { path: "f", edits: list };
    const result = await callText(edit, dir.path, args);
    const label = JSON.stringify({ seed, text, edits, result });
    expect(result, label).toStartWith("Edited f");
    expect(readFileSync(dir.file("f")).equals(Buffer.from(expected)), label).toBe(true);
    made++;
  }
});

test("a text that is there only nearly is not replaced: blanks and quotes elsewhere stay as they are", async () => {
  const content = "const a = “q”;  \nconst b = “q”;\t\nconst c = “q”;  \n";
  const { text, content: after } = await editContent(content, 'const b = "q";', "const b = 1;");
  expect(text).toStartWith("Error: old_string is not in f. Nearest lines:\n     2\tconst b = “q”;");
  expect(after).toBe(content);
  expect((await editContent(content, "const b = “q”;", "const b = 1;")).content).toBe(
    "const a = “q”;  \nconst b = 1;\t\nconst c = “q”;  \n",
  );
});

test("the preview is a diff of what would change, and changes nothing", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("f"), "a\nb\nc\n");
  const args = { path: "f", old_string: "b", new_string: "B" };
  expect(await previewText(edit, dir.path, args)).toBe("--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  expect(readFileSync(dir.file("f"), "utf8")).toBe("a\nb\nc\n");
});

test("the mode and a link to the file stay", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("run.sh"), "echo 1\n");
  chmodSync(dir.file("run.sh"), 0o755);
  symlinkSync("run.sh", dir.file("link"));
  await callText(edit, dir.path, { path: "link", old_string: "1", new_string: "2" });
  expect([readFileSync(dir.file("run.sh"), "utf8"), statSync(dir.file("run.sh")).mode & 0o777]).toEqual([
    "echo 2\n",
    0o755,
  ]);
  expect(lstatSync(dir.file("link")).isSymbolicLink()).toBe(true);
});
