// The README's picture: that it shows what the program shows, and how a screen becomes an SVG.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { screenToSvg } from "../../scripts/picture/svg.ts";
import { pictureFile, playSession } from "../../scripts/picture.ts";
import { drawScreen } from "../helpers/screen.ts";
import { tmp } from "../helpers/tmp.ts";

/** The texts of the picture, without what differs from run to run. */
function texts(svg: string): string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) =>
    text!
      .replaceAll("\u00a0", " ")
      .replace(/^\d+ ms$/, "N ms")
      .replace(/^\S+(?=\/slug\b)/, ""),
  );
}

test("the README's picture shows what the program shows today; else `bun scripts/picture.ts` makes it anew", async () => {
  await using dir = tmp();
  const rows = await playSession(dir.file("slug"));
  expect(texts(readFileSync(pictureFile, "utf8"))).toEqual(texts(screenToSvg(rows, 108, "")));
}, 20_000);

test("colours, looks and places of a screen's texts are in the SVG, and nothing is markup", () => {
  const output =
    "\x1b[1;31mred\x1b[0m  <b>\r\n\x1b[7m on \x1b[27m\x1b[38;5;196mcube\x1b[39m\x1b[48;2;1;2;3m \x1b[49m\r\n\r\n";
  const svg = screenToSvg(drawScreen(output, 20, 10), 20, "a & b");
  expect(svg).toContain("<title>a &amp; b</title>");
  const elements = svg.split("\n").filter((line) => line.startsWith("<text") || / height="19"/.test(line));
  expect(elements.map((line) => line.replace(/ (y|lengthAdjust|height)="[^"]*"/g, ""))).toEqual([
    '<text x="20" textLength="25.2" fill="#ff7b72" font-weight="bold">red</text>',
    '<text x="62" textLength="25.2">&lt;b&gt;</text>',
    '<rect x="20" width="33.6" fill="#d1d7e0"/>',
    '<text x="28.4" textLength="16.8" fill="#161b22">on</text>',
    '<text x="53.6" textLength="33.6" fill="#ff0000">cube</text>',
    '<rect x="87.2" width="8.4" fill="#010203"/>',
  ]);
});
