// The page as a parser sees it: what it is made of, and that nothing else can get in.
import { expect, test } from "bun:test";
import { type PageSource, renderPage } from "../../src/export/page.ts";
import { shownUnits } from "../../src/export/text-block.ts";
import { buildSession, call, usage } from "./build-session.ts";
import { hostileSession } from "./hostile-session.ts";

const pageOf = (source: PageSource) => [...renderPage(source)].join("");

/** The text of a page, or of a part of it, as a person reads it. */
function textOf(page: string): string {
  const body = page.slice(Math.max(0, page.indexOf("<body>")));
  const text = body.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#x27": "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|#x27|amp);/g, (_, name: string) => entities[name] ?? "").trim();
}

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

function elementsOf(page: string): Element[] {
  const elements: Element[] = [];
  const rewriter = new HTMLRewriter().on("*", {
    element: ({ tagName, attributes }) => {
      elements.push({ name: tagName, attributes: Object.fromEntries(attributes) });
    },
  });
  rewriter.transform(page);
  return elements;
}

test("a hostile session makes no element and no attribute but those of the page", () => {
  const elements = elementsOf(
    pageOf(hostileSession().source({ id: '"><script>x</script>', cwd: "<script>x</script>" })),
  );
  expect(elements.length).toBeGreaterThan(500);
  expect([...new Set(elements.map(({ name }) => name))].sort().join(" ")).toBe(
    "a article b body code dd details div dl dt em figcaption figure footer h1 h2 h3 head header html i img li line link main meta ol p pre rect section span style summary svg table tbody td th thead title tr",
  );
  expect([...new Set(elements.flatMap(({ attributes }) => Object.keys(attributes)))].sort().join(" ")).toBe(
    "alt aria-label charset class content data-language data-made-by height href http-equiv id lang name preserveaspectratio rel role src title viewbox width x x1 x2 y y1 y2",
  );
  const targets = elements
    .flatMap(({ attributes: { href, src } }) => [href ?? "", src ?? ""])
    .filter((url) => url !== "");
  for (const url of targets) expect(url).toMatch(/^(?:#[a-z0-9]+$|https:\/\/|mailto:|data:,$|data:image\/png;base64,)/);
  const ids = elements.flatMap(({ attributes: { id } }) => id ?? []);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^(?:e\d+|branches)$/.test(id))).toEqual([]);
});

test("every link inside the page leads to a place in it", () => {
  const elements = elementsOf(pageOf(hostileSession().source()));
  const ids = new Set(elements.map(({ attributes }) => attributes.id));
  const links = elements.flatMap(({ attributes: { href = "" } }) => (href.startsWith("#") ? [href.slice(1)] : []));
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((id) => !ids.has(id))).toEqual([]);
});

test("the page allows itself styles and images that it carries, nothing else", () => {
  const policy = elementsOf(pageOf(buildSession().source())).find(({ attributes }) => attributes["http-equiv"]);
  expect(policy?.attributes.content).toStartWith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;");
});

test("the head tells what the session is, and the totals of all its branches", () => {
  const session = buildSession();
  session.add({ type: "model_change", provider: "testing", modelId: "model-1" });
  const start = session.user("First line\nsecond line");
  session.answer([{ type: "text", text: "on a branch that was left" }], { usage: usage(1000, 0, 500) });
  session.moveTo(start);
  session.answer([{ type: "text", text: "Answer." }], { usage: usage(2000, 1000, 500) });
  const text = textOf(pageOf(session.source({ badLines: 2 })));
  expect(text).toStartWith(
    "First line Session 01a2-test Folder /home/ada/shop Model testing/model-1 Time 2026-11-30 08:15 – 08:18 UTC Messages 2 " +
      "Tokens 4,000 in (1,000 cached), 1,000 out Cost $5.00 " +
      "One branch of the session; one other in short at the end . Tokens and cost are those of all. " +
      "2 lines of the session's file could not be read.",
  );
  expect(text).toEndWith(
    "Other branches This page shows one branch of the session. What was said on the others, in short: " +
      "on a branch that was left 1 message · 2026-11-30 08:17 Where it leaves this branch Assistant on a branch that was left",
  );
  session.add({ type: "session_info", name: "The shop" });
  expect(pageOf(session.source())).toContain("<h1>The shop</h1>");
});

test("a call is folded to a line and holds its arguments and its own result, also when an id comes again", () => {
  const session = buildSession();
  for (const [command, output] of [
    ["first command", "first output"],
    ["second command", "second output"],
  ] as const) {
    session.answer([call("call_0", "bash", { command, timeout: 5 })], { stopReason: "toolUse" });
    session.result("call_0", output, { durationMs: 1234, isError: command.startsWith("second") });
  }
  session.answer([call("call_1", "read", { path: "a.ts" })], { stopReason: "aborted" });
  const calls = pageOf(session.source()).match(/<details class="tool.*?<\/details>/gs) ?? [];
  expect(calls.map(textOf)).toEqual([
    "✓ bash first command 1.2 s $ first command timeout 5 Result first output",
    "✗ bash second command failed · 1.2 s $ second command timeout 5 Result second output",
    "– read a.ts no result path a.ts",
  ]);
});

test.each<[string, Record<string, unknown>]>([
  ["one change", { path: "a", old_string: "x", new_string: "y" }],
  ["several", { path: "a", edits: [{ old_string: "x", new_string: "y" }] }],
  ["the fields of another program", { path: "a", edits: [{ oldText: "x", newText: "y" }] }],
])("an edit is shown as a diff: %s", (_, args) => {
  const session = buildSession();
  session.answer([call("c", "edit", args)]);
  expect(pageOf(session.source())).toContain(
    '<pre class="diff"><code><span class="removed">-x\n</span><span class="added">+y\n</span></code></pre>',
  );
});

test("what went wrong is marked", () => {
  const session = buildSession();
  session.answer([], { stopReason: "error", errorMessage: "529: overloaded" });
  session.answer([{ type: "text", text: "half" }], { stopReason: "aborted", errorMessage: "Request aborted" });
  session.answer([{ type: "text", text: "half" }], { stopReason: "length" });
  const [failed] = session.entries;
  session.add({ type: "context_edit", targetId: failed?.id ?? "", replacement: null });
  const page = pageOf(session.source());
  expect(page).toContain('<p class="error"><b>Error</b> 529: overloaded</p>');
  expect(page).toContain('<p class="warning">Interrupted.</p>');
  expect(page).toContain('<p class="warning">Cut off at the output limit.</p>');
  expect(page).toContain('<span class="badge quiet">taken out of the context</span>');
});

test("the chart has a bar for each answer that counts and a line where a compaction was", () => {
  const session = buildSession();
  session.answer([{ type: "text", text: "a" }], { usage: usage(100, 0, 100) });
  session.answer([], { stopReason: "error", usage: usage(0, 0, 0) });
  session.answer([{ type: "text", text: "b" }], { usage: usage(100, 600, 100) });
  session.add({ type: "compaction", summary: "s", firstKeptEntryId: "x", tokensBefore: 800 });
  session.answer([{ type: "text", text: "c" }], { usage: usage(100, 200, 100) });
  const page = pageOf(session.source());
  const [chart = ""] = /<figure.*<\/figure>/s.exec(page) ?? [];
  expect(textOf(chart)).toBe(
    "Context 800 tokens at most, 400 at the end, over 3 answers cached new compaction 200 tokens, 0 cached 800 tokens, 600 cached 400 tokens, 200 cached",
  );
  expect(chart.match(/<a href="#e[135]">/g)).toEqual(['<a href="#e1">', '<a href="#e3">', '<a href="#e5">']);
  expect(chart.match(/<line [^>]*>/g)).toEqual(['<line x1="20" x2="20" y1="0" y2="100"/>']);
});

test("of a very long text the page holds the beginning and the end and says how much is missing", () => {
  const session = buildSession();
  session.answer([
    { type: "text", text: `begin${"x".repeat(1_000_000)}` },
    call("c", "bash", { command: "y".repeat(1_000_000) }),
  ]);
  session.result("c", `begin${"🦊".repeat(500_000)}end`);
  const page = pageOf(session.source());
  const { head, tail } = shownUnits;
  expect(page.length).toBeLessThan(3 * (head + tail) + 30_000);
  expect(page.match(/[\d,]+ characters are left out of this page here/g)).toEqual([
    "800,005 characters are left out of this page here",
    "800,002 characters are left out of this page here",
    "800,010 characters are left out of this page here",
  ]);
  expect(page).toContain("🦊end</code>");
  expect(page.isWellFormed()).toBe(true);
});

test("an empty session and one of unknown entries are pages too", () => {
  expect(pageOf(buildSession().source())).toContain("There is no message in this session.");
  const session = buildSession();
  session.add({ type: "from_the_future", field: "<value>" } as never);
  session.user("hello");
  const text = textOf(pageOf(session.source()));
  expect(text).toContain("An entry that this version does not know");
  expect(text).toContain('"field": "<value>"');
});
