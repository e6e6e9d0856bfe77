// The page in a real browser, opened from the disk as a person would.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { exportSession } from "../../src/app/export.ts";
import type { PageSource } from "../../src/export/page.ts";
import { visible } from "../../src/util/sanitize.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";
import { buildSession, call, usage } from "./build-session.ts";
import { attacks, hostileSession } from "./hostile-session.ts";
import { type Colour, coloursOfTexts, inspect, openAll, pageWidth, scrollingBlocks } from "./in-page.ts";

const places = [process.env.PI_TS_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const chromium = places.find((path) => path !== undefined && existsSync(path));
const why = chromium === undefined ? " (skipped: no Chromium at /usr/bin/chromium or $PI_TS_CHROMIUM)" : "";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

describe.skipIf(chromium === undefined)(`in Chromium${why}`, () => {
  let dir: TmpDir;
  let browser: Browser;
  /** A page in which every text is an attack, and one of each thing that a page can show; all open. */
  let hostile: Opened;
  let plain: Opened;

  beforeAll(async () => {
    dir = tmp();
    const { chromium: launcher } = await import("playwright-core");
    browser = await launcher.launch({ executablePath: chromium as string, headless: true, args: flags });
    hostile = await open(await write("hostile", hostileSession().source()));
    plain = await open(await write("plain", sample()));
    for (const { page } of [hostile, plain]) await page.evaluate(openAll);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await dir?.[Symbol.asyncDispose]();
  });

  async function write(name: string, { id, cwd, entries }: PageSource): Promise<string> {
    const header = { type: "session", version: 3, id, timestamp: "2026-11-30T08:15:00.000Z", cwd };
    const lines = [header, ...entries].map((record) => `${JSON.stringify(record)}\n`);
    await Bun.write(dir.file(`${name}.jsonl`), lines.join(""));
    return (await exportSession(dir.file(`${name}.jsonl`), dir.file(`${name}.html`))).path;
  }

  async function open(file: string, options: BrowserContextOptions = {}): Promise<Opened> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const url = pathToFileURL(file).href;
    const requests: string[] = [];
    const incidents: string[] = [];
    context.on("request", (request) => requests.push(request.url()));
    page.on("dialog", (dialog) => {
      incidents.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => incidents.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => incidents.push(`error: ${error.message}`));
    page.on("popup", () => incidents.push("popup"));
    await page.goto(url);
    return { page, url, requests, incidents };
  }

  test("a hostile session runs nothing, loads nothing, and stands there as text", async () => {
    const { page, url, requests, incidents } = hostile;
    // What waits for the pointer or the keyboard gets its chance.
    for (let i = 0; i < 20; i++) await page.keyboard.press("Tab");
    await page.mouse.move(300, 300);
    const found = await page.evaluate(inspect);
    expect(found.spoiled).toBeUndefined();
    expect(found.banned).toBe(0);
    expect(found.handlers).toEqual([]);
    expect([...new Set(found.targets)].sort()).toEqual(["file:", "https:", "mailto:"]);
    expect(found.title).toStartWith("</title><script>");
    expect(found.end).toBe("The end.");
    expect(found.images).toEqual([20]);
    for (const attack of attacks) expect(found.text).toContain(visible(attack));
    expect(requests.filter((request) => !request.startsWith("data:"))).toEqual([url]);
    expect(incidents).toEqual([]);
  }, 30_000);

  test("without script, what is folded opens with a click or a key, and links lead into the page", async () => {
    const { page } = await open(dir.file("plain.html"), { javaScriptEnabled: false });
    const result = page.getByText("12 files found");
    expect(await result.isVisible()).toBe(false);
    await page.getByText("rg --files").first().click();
    expect(await result.isVisible()).toBe(true);
    const thought = page.getByText("A quiet thought");
    expect(await thought.isVisible()).toBe(false);
    await page.locator("details.thinking > summary").focus();
    await page.keyboard.press("Enter");
    expect(await thought.isVisible()).toBe(true);
    await page.locator(".chart a").last().click();
    expect(new URL(page.url()).hash).toMatch(/^#e\d+$/);
  }, 30_000);

  test.each(["light", "dark"] as const)(
    "every text can be read in %s colours",
    async (colorScheme) => {
      await plain.page.emulateMedia({ colorScheme });
      const colours = await plain.page.evaluate(coloursOfTexts);
      expect(colours.length).toBeGreaterThan(30);
      const weak = colours.filter(({ ink, papers }) => contrast(ink, flatten(papers)) < 4.5);
      expect(weak).toEqual([]);
      const paper = flatten(colours[0]?.papers ?? []);
      expect(luminance(paper) > 0.5).toBe(colorScheme === "light");
    },
    30_000,
  );

  test.each([360, 1200])(
    "at a width of %d, wide things scroll in themselves and never the page",
    async (width) => {
      for (const { page } of [hostile, plain]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate(pageWidth)).toBeLessThanOrEqual(width);
      }
      expect(await plain.page.evaluate(scrollingBlocks)).toBeGreaterThan(0);
    },
    30_000,
  );

  test("on paper, code is wrapped instead of cut", async () => {
    await plain.page.emulateMedia({ media: "print" });
    expect(await plain.page.evaluate(scrollingBlocks)).toBe(0);
  }, 30_000);
});

interface Opened {
  readonly page: Page;
  readonly url: string;
  readonly requests: readonly string[];
  readonly incidents: readonly string[];
}

/** One of each thing that a page can show. */
function sample(): PageSource {
  const session = buildSession();
  session.add({
    type: "message",
    message: {
      role: "system",
      content: "Be good.",
      toolsAdded: [{ name: "bash", description: "Runs.", parameters: {} }],
      timestamp: 1,
    },
  });
  const first = session.user("Find the files");
  session.answer([
    { type: "thinking", thinking: "A quiet thought" },
    {
      type: "text",
      text: "## Looking\n\nSee [docs](https://example.com) and `code`.\n\n> quoted\n\n|a|b|\n|-|-|\n|1|2|",
    },
    call("c1", "bash", { command: "rg --files", timeout: 10 }),
    call("c2", "edit", {
      path: "a.ts",
      old_string: "const a = 1;",
      new_string: `const a = ${'"long" + '.repeat(60)}1;`,
    }),
    call("c3", "bash", { command: "git diff" }),
    call("c4", "read", { path: "missing.ts" }),
  ]);
  session.result("c1", "12 files found");
  session.result("c2", "Edited a.ts");
  session.result("c3", "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n same\n");
  session.result("c4", "Error: there is no missing.ts", { isError: true });
  session.answer([{ type: "text", text: "half" }], { stopReason: "aborted" });
  session.answer([], { stopReason: "error", errorMessage: "500: broken" });
  session.add({ type: "context_edit", targetId: session.entries.at(-1)?.id ?? "", replacement: null });
  session.add({ type: "label", targetId: first, label: "begin" });
  session.add({
    type: "compaction",
    summary: "**Goal**: files",
    firstKeptEntryId: first,
    tokensBefore: 9000,
    usage: usage(9000, 0, 9),
  });
  session.add({ type: "model_change", provider: "testing", modelId: "model-2" });
  const fork = session.user("Now another thing");
  session.answer([{ type: "text", text: "On another branch." }]);
  session.moveTo(fork);
  session.answer([{ type: "text", text: "- [x] done" }], { model: "model-2" });
  session.user("Thanks");
  session.answer([
    { type: "text", text: `A long word: ${"x".repeat(300)} and https://example.com/${"y".repeat(300)}` },
  ]);
  return session.source();
}

/** The first that hides what lies behind it; ours are whole or nothing. */
function flatten(papers: readonly Colour[]): Colour {
  return papers.find(([, , , alpha]) => alpha === 1) ?? [255, 255, 255, 1];
}

/** By WCAG 2: relative luminance and contrast. */
function luminance([red, green, blue]: Colour): number {
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: Colour, other: Colour): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
