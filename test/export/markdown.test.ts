import { expect, test } from "bun:test";
import { markdown } from "../../src/export/markdown.ts";

const rendered = (text: string) => markdown(text).text.slice('<div class="prose">'.length, -"</div>".length);

test.each([
  ["# A\n\ntext", "<h3>A</h3>\n<p>text</p>\n"],
  ["a **b** *c* ~~d~~ `e`", "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p>\n"],
  ["a  \nb", "<p>a<br>\nb</p>\n"],
  ["3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>\n'],
  ["- [x] a\n- [ ] b", '<ul>\n<li class="task">☑ a</li>\n<li class="task">☐ b</li>\n</ul>\n'],
  ["```ts\na < b\n```", '<pre><code data-language="ts">a &lt; b\n</code></pre>\n'],
  [
    "|a|b|\n|-|-:|\n|1|2|",
    '<div class="wide"><table>\n<thead>\n<tr><th>a</th><th class="right">b</th></tr>\n</thead>\n<tbody>\n<tr><td>1</td><td class="right">2</td></tr>\n</tbody>\n</table></div>\n',
  ],
  ["> a\n\n---", "<blockquote>\n<p>a</p>\n</blockquote>\n<hr>\n"],
  [
    "```diff\n-a<b\n+c\n d\n```",
    '<pre><code data-language="diff" class="diff"><span class="removed">-a&lt;b\n</span><span class="added">+c\n</span> d\n</code></pre>\n',
  ],
])("%j is rendered", (text, expected) => {
  expect(rendered(text)).toBe(expected);
});

test.each([
  ["<b onclick=x>a</b>", "<p>&lt;b onclick=x&gt;a&lt;/b&gt;</p>\n"],
  ["<div>\n<script>a</script>\n</div>", "<p>&lt;div&gt;\n&lt;script&gt;a&lt;/script&gt;\n&lt;/div&gt;</p>\n"],
  ["<!-- a --> <![CDATA[b]]>", "<p>&lt;!-- a --&gt; &lt;![CDATA[b]]&gt;</p>\n"],
  ["&lt;b&gt; &#60;i&#62; &amp;amp;", "<p>&lt;b&gt; &lt;i&gt; &amp;amp;</p>\n"],
  ["a\u202eb &#x202e; \u0000 \u2028", "<p>a&lt;U+202E&gt;b &lt;U+202E&gt; ␀ &lt;U+2028&gt;</p>\n"],
  ['```a" onload="b\nc\n```', "<pre><code>c\n</code></pre>\n"],
])("%j stays text", (text, expected) => {
  expect(rendered(text)).toBe(expected);
});

const rel = 'rel="noopener noreferrer"';

test.each([
  ["[a](https://b.example/?c=1&d=2)", `<p><a href="https://b.example/?c=1&amp;d=2" ${rel}>a</a></p>\n`],
  ["https://b.example/c", `<p><a href="https://b.example/c" ${rel}>https://b.example/c</a></p>\n`],
  ['[a](https://b.example/"c "d")', `<p><a href="https://b.example/%22c" ${rel}>a</a></p>\n`],
  ["[a](mailto:b@c.example)", `<p><a href="mailto:b@c.example" ${rel}>a</a></p>\n`],
  ["[a](javascript:b)", '<p><span class="no-link">a</span> <code>javascript:b</code></p>\n'],
  ["[a](JaVa&#115;cript:b)", '<p><span class="no-link">a</span> <code>JaVascript:b</code></p>\n'],
  ["[a](data:text/html,b)", '<p><span class="no-link">a</span> <code>data:text/html,b</code></p>\n'],
  ["[a](src/b.ts:3)", '<p><span class="no-link">a</span> <code>src/b.ts:3</code></p>\n'],
  ["[a](//b.example)", '<p><span class="no-link">a</span> <code>//b.example</code></p>\n'],
  ["![a](https://b.example/c.png)", `<p><a href="https://b.example/c.png" ${rel}>[image: a]</a></p>\n`],
  ["![a](data:image/png;base64,AAAA)", "<p>[image: a] <code>data:image/png;base64,AAAA</code></p>\n"],
])("%j leads nowhere else and loads nothing", (text, expected) => {
  expect(rendered(text)).toBe(expected);
});

test("text made to be slow is rendered soon", () => {
  const begin = performance.now();
  for (const text of [">".repeat(50_000), "[a](".repeat(30_000), "*a_".repeat(30_000), "![".repeat(30_000)])
    markdown(text);
  expect(performance.now() - begin).toBeLessThan(5000);
});
