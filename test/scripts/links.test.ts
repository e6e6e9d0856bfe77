// Links within the README and docs/ lead somewhere: files that exist, headings that stand there.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dir, "../..");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs")).flatMap((name) => (name.endsWith(".md") ? `docs/${name}` : [])),
];

/** The text without what stands in code, where nothing is a link or a heading. */
function prose(page: string): string {
  const text = readFileSync(join(root, page), "utf8");
  return text.replace(/^```[\s\S]*?^```$/gm, "");
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchors(page: string): string[] {
  return [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The targets of a page's links and pictures that are none of the web's: a path from the root, and an anchor. */
function targets(page: string): { path: string; anchor: string | undefined }[] {
  const links = prose(page)
    .replaceAll(/`[^`\n]*`/g, "")
    .matchAll(/\]\(([^)\s]+)\)/g);
  return [...links].flatMap(([, target]) => {
    if (/^\w+:/.test(target!)) return [];
    const [file, anchor] = target!.split("#");
    return { path: file === "" ? page : relative(root, join(root, dirname(page), file!)), anchor };
  });
}

test.each(pages)("the links of %s lead to what is there", (page) => {
  const broken = targets(page).filter(({ path, anchor }) => {
    if (!existsSync(join(root, path))) return true;
    return anchor !== undefined && !anchors(path).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test("every page of docs/ is linked from the README, and has links to follow at all", () => {
  const linked = targets("README.md").map(({ path }) => path);
  expect(pages.filter((page) => page !== "README.md" && !linked.includes(page))).toEqual([]);
  expect(linked.length).toBeGreaterThan(20);
});
