import { expect, test } from "bun:test";
import { renderMarkdown } from "../../src/modes/repl/markdown.ts";
import { createStyle } from "../../src/modes/style.ts";

const plain = createStyle(false);
const coloured = createStyle(true);
const names: Readonly<Record<string, string>> = { 1: "b", 2: "dim", 3: "i", 4: "u", 9: "s" };
const colours: Readonly<Record<string, string>> = { 31: "red", 32: "green", 36: "cyan" };
const ends: Readonly<Record<string, string>> = { 22: "/", 23: "/", 24: "/", 29: "/", 39: "/" };

/** The looks as tags: `<b>`, and `</>` where one ends. */
function looks(text: string): string {
  const rendered = renderMarkdown(text, 80, coloured);
  return rendered.replace(/\x1b\[(\d+)m/g, (_, code) => `<${names[code] ?? colours[code] ?? ends[code]}>`);
}

test.each([
  ["# One\n## Two `x` ##\n###### Six", "<b><u>One</></>\n<b>Two </><cyan><b>x</></>\n<b>Six</>"],
  ["**bold**: *it*. (***both***), ~~no~~!", "<b>bold</>: <i>it</>. (<b><i>both</></>), <s>no</>!"],
  ["**a *b* `c`**", "<b>a </><i><b>b</></><b> </><cyan><b>c</></>"],
  ["**重要**です", "<b>重要</>です"],
  ["`a*b*c` `` a ` b `` ` `.", "<cyan>a*b*c</> <cyan>a ` b</> <cyan> </>."],
  [String.raw`\*no\* \_no\_ C:\new \d+`, String.raw`*no* _no_ C:\new \d+`],
  ["[docs](https://x.org/a_(b)) on", "docs (<u>https://x.org/a_(b)</>) on"],
  ["[`a.ts`](/w/a.ts:12)", "<cyan>a.ts</> (<u>/w/a.ts:12</>)"],
  ["[https://good.org](https://evil.org)", "https://good.org (<u>https://evil.org</>)"],
  ["[https://x.org](https://x.org)", "<u>https://x.org</>"],
  ["> quoted **text**\n>> twice", "<dim>│ </>quoted <b>text</>\n<dim>│ </><dim>│ </>twice"],
  ["a\n\n---\n* * *", `a\n\n<dim>${"─".repeat(40)}</>\n<dim>${"─".repeat(40)}</>`],
  ["```ts\nconst a = `**x**`;\n\n# no\n```\n*b*", "<dim>─── ts</>\nconst a = `**x**`;\n\n# no\n<dim>───</>\n<i>b</>"],
  ["   ```\n   x\n   ```", "   <dim>───</>\n   x\n   <dim>───</>"],
  ["````md\n```\n````\n*b*", "<dim>─── md</>\n```\n<dim>───</>\n<i>b</>"],
  ["~~~\n*a*", "<dim>───</>\n*a*"],
  ["1. ```sh\n   *a*\n   ```\n2. *b*", "1. <dim>─── sh</>\n   *a*\n   <dim>───</>\n2. <i>b</>"],
  ["> ```\n>   *a*\n> ```\n> *b*", "<dim>│ </><dim>───</>\n<dim>│ </>  *a*\n<dim>│ </><dim>───</>\n<dim>│ </><i>b</>"],
  ["> ```\n> *a*\n*b*", "<dim>│ </><dim>───</>\n<dim>│ </>*a*\n<i>b</>"],
  ["```\n> *a*\n```", "<dim>───</>\n> *a*\n<dim>───</>"],
  [
    "```diff\n@@ 1 @@\n-a\n+b\n c\n```",
    "<dim>─── diff</>\n<cyan>@@ 1 @@</>\n<red>-a</>\n<green>+b</>\n c\n<dim>───</>",
  ],
])("%j", (text, expected) => {
  expect(looks(text)).toBe(expected);
});

test.each([
  "snake_case_names a*b*c 2 * 3 * 4 __init__.py _private_ ~/a ~/b",
  "def f(*args, **kwargs): return g(*args, **kwargs)",
  "src/**/*.ts and test/**/*.test.ts, *.js and *.ts, **/*.md or **/*.txt",
  "*/5 * * * * and int *a, *b; (*p)->x = *q",
  "<b>html</b> Vec<String> &lt; &#27;[31m &#x202e;",
  "![alt](./logo.png) [![badge](a.svg)](b) arr[i](x) [ref][1] <https://x.org>",
  "2024-01-01 INFO [x] start\n2024-01-01 WARN [y] end",
  "src/a.ts\nsrc/b.ts\n\n\nsrc/c.ts",
  "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n context",
  "3. three\n4. four\n10. ten\n- [ ] todo\n- [x] done\n  + more\n\t* less",
  "Title\n=====\n#hash #tag ####### seven",
  "| a | b\nor c || d",
  "an `open tick and **open bold",
])("stays as written: %j", (text) => {
  expect(looks(text)).toBe(text);
});

test.each([
  ["one two three four five six", 16, "one two three\nfour five six"],
  [
    "- one two three four five\n  - six seven eight nine",
    20,
    "- one two three four\n  five\n  - six seven eight\n    nine",
  ],
  ["12. one two three four", 20, "12. one two three\n    four"],
  ["- [ ] one two three four", 22, "- [ ] one two three\n      four"],
  ["> one two three four five", 20, "│ one two three four\n│ five"],
  ["> - one two three four five", 22, "│ - one two three four\n│   five"],
  ["      deep one two three", 16, "      deep one\ntwo three"],
  ["see https://example.com/a/long/path here", 20, "see\nhttps://example.com/a/long/path\nhere"],
  ["漢字漢字漢字漢、漢字 ok", 15, "漢字漢字漢字\n漢、漢字 ok"],
  ["one\u00a0two three\u00a0four five", 16, "one\u00a0two\nthree\u00a0four five"],
  ["```\na line of code that is longer\n```", 16, "───\na line of code that is longer\n───"],
])("%j in %d columns", (text, columns, expected) => {
  expect(renderMarkdown(text, columns, plain)).toBe(expected);
});

test("a look that goes on in the next row begins anew there", () => {
  const rendered = renderMarkdown("so **very `much code` indeed**", 12, coloured);
  expect(rendered.split("\n").map((row) => Bun.stripANSI(row))).toEqual(["so very much", "code indeed"]);
  expect(rendered.split("\n")[1]).toStartWith("\x1b[36m\x1b[1mcode");
});

const table = [
  "| Name | Size | What |",
  "|:--|--:|:-:|",
  "| `a` | 1 | one two three four |",
  "| 漢字 \\| b | 22 | |",
  "| c |",
].join("\n");

test("a table is aligned, and wraps its cells where it is too wide", () => {
  expect(renderMarkdown(table, 80, plain).split("\n")).toEqual([
    "Name     │ Size │        What",
    "─────────┼──────┼───────────────────",
    "a        │    1 │ one two three four",
    "漢字 | b │   22 │",
    "c        │      │",
  ]);
  expect(renderMarkdown(table, 30, plain).split("\n")).toEqual([
    "Name     │ Size │     What",
    "─────────┼──────┼─────────────",
    "a        │    1 │   one two",
    "         │      │  three four",
    "漢字 | b │   22 │",
    "c        │      │",
  ]);
});

test("a cell keeps its line breaks, and what another `|` parts from it", () => {
  const written = "| a | b |\n|---|---|\n| one<br>two | x `y || z` | w |\n|";
  expect(renderMarkdown(written, 80, plain).split("\n")).toEqual([
    "a   │ b",
    "────┼─────────────",
    "one │ x y || z | w",
    "two │",
    "    │",
  ]);
  expect(renderMarkdown("| a |\n|---|---|", 80, plain)).toBe("| a |\n|---|---|");
});

test("a table that does not fit stays as written", () => {
  expect(renderMarkdown(table, 16, plain)).toContain("| Name | Size |\nWhat |");
});
