import { expect, test } from "bun:test";
import { changeBlock, diffBlock, isDiff } from "../../src/export/diff.ts";

test.each([
  ["diff --git a/x b/x\nindex 1..2\n", true],
  ["text before\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n", true],
  ["@@ -1,2 +3,4 @@ function\n", true],
  ["- a list\n- of things\n+ more\n", false],
  ["--- a rule\nand text", false],
])("%j is a diff: %j", (text, expected) => {
  expect(isDiff(text)).toBe(expected);
});

test("the lines of a diff are coloured by what they are", () => {
  expect(diffBlock("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-<a>\n-b\n c\n+d").text).toBe(
    '<pre class="diff"><code><span class="file">--- a/x\n+++ b/x\n</span><span class="hunk">@@ -1,2 +1 @@\n</span><span class="removed">-&lt;a&gt;\n-b\n</span> c\n<span class="added">+d</span></code></pre>',
  );
});

test.each([
  ["a\nb\nc", "a\nB\nc", ' a\n<span class="removed">-b\n</span><span class="added">+B\n</span> c\n'],
  ["", "a\n\nb", '<span class="added">+a\n+\n+b\n</span>'],
  ["a", "", '<span class="removed">-a\n</span>'],
  ["<i>\r\n", "<b>\r\n", '<span class="removed">-&lt;i&gt;\n</span><span class="added">+&lt;b&gt;\n</span>'],
])("from %j to %j", (before, after, expected) => {
  expect(changeBlock(before, after).text).toBe(`<pre class="diff"><code>${expected}</code></pre>`);
});

test("very long texts are shown as all out, all in", () => {
  const [old, young] = ["a\n".repeat(60_000), "b\n".repeat(60_000)];
  const begin = performance.now();
  expect(changeBlock(old, young).text.length).toBeGreaterThan(300_000);
  expect(performance.now() - begin).toBeLessThan(2000);
});
