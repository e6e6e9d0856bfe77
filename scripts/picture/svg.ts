// A terminal's screen as an SVG that needs nothing beside itself: a dark window, which is legible on a light and on a dark page.
import type { Cell } from "../../test/helpers/screen.ts";
import type { Colour, Style } from "../../test/helpers/terminal-style.ts";

const cell = { width: 8.4, height: 19 };
const margin = { top: 42, side: 20, bottom: 18 };
const fontSize = 14;
const window = {
  background: "#161b22",
  border: "#30363d",
  text: "#d1d7e0",
  buttons: ["#ff5f57", "#febc2e", "#28c840"],
};
const palette = [
  ...["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"],
  ...["#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff"],
];

/** `label` is what is read out in the picture's place. Empty rows at the end are left out. */
export function screenToSvg(rows: readonly (readonly Cell[])[], cols: number, label: string): string {
  const last = rows.findLastIndex((row) => row.some(({ text }) => text.trim() !== ""));
  const shown = rows.slice(0, last + 1);
  const width = Math.ceil(cols * cell.width + 2 * margin.side);
  const height = margin.top + shown.length * cell.height + margin.bottom;
  const buttons = window.buttons.map((fill, i) => `<circle cx="${20 + i * 18}" cy="20" r="5.5" fill="${fill}"/>`);
  const font = `font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace" font-size="${fontSize}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(label)}</title>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9" fill="${window.background}" stroke="${window.border}"/>`,
    ...buttons,
    `<g ${font} fill="${window.text}">`,
    ...shown.flatMap((row, i) => drawRow(row, margin.top + i * cell.height)),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** Neighbours of one style are one text. */
function drawRow(row: readonly Cell[], top: number): string[] {
  const parts: string[] = [];
  for (let from = 0; from < row.length; ) {
    const { style } = row[from]!;
    let to = from + 1;
    while (to < row.length && Bun.deepEquals(row[to]!.style, style)) to++;
    const { behind } = colours(style);
    if (behind !== undefined) {
      const place = `x="${atColumn(from)}" y="${top}" width="${columns(to - from)}" height="${cell.height}"`;
      parts.push(`<rect ${place} fill="${behind}"/>`);
    }
    parts.push(...drawText(row.slice(from, to), from, top));
    from = to;
  }
  return parts;
}

/** Blanks around a text are left out; its length is given, so that it fits the grid whatever font there is. */
function drawText(cells: readonly Cell[], column: number, top: number): string[] {
  const first = cells.findIndex(({ text }) => text !== " ");
  if (first === -1) return [];
  const shown = cells.slice(first, cells.findLastIndex(({ text }) => text !== " ") + 1);
  const { bold, dim, italic, underline, ...style } = shown[0]!.style;
  const { fill } = colours(style);
  const looks = [
    `x="${atColumn(column + first)}" y="${round(top + cell.height * 0.74)}"`,
    `textLength="${columns(shown.length)}" lengthAdjust="spacingAndGlyphs"`,
    ...(fill === undefined ? [] : [`fill="${fill}"`]),
    ...(bold ? ['font-weight="bold"'] : []),
    ...(dim ? ['fill-opacity="0.62"'] : []),
    ...(italic ? ['font-style="italic"'] : []),
    ...(underline ? ['text-decoration="underline"'] : []),
  ];
  const text = shown.map((one) => one.text).join("");
  // Blanks in a row would become one.
  return [`<text ${looks.join(" ")}>${escapeXml(text).replaceAll(" ", "\u00a0")}</text>`];
}

function colours({ inverse, colour, background }: Style): { fill?: string; behind?: string } {
  const [front, back] = inverse ? [background ?? window.background, colour ?? window.text] : [colour, background];
  return {
    ...(front === undefined ? {} : { fill: toHex(front) }),
    ...(back === undefined ? {} : { behind: toHex(back) }),
  };
}

/** Of xterm's 256 colours the first 16 are the window's; behind them stand a cube of 6³ and 24 greys. */
function toHex(colour: Colour): string {
  if (typeof colour === "string") return colour;
  if (colour < 16) return palette[colour]!;
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
  const index = colour - 16;
  const parts =
    colour < 232
      ? [level(Math.floor(index / 36)), level(Math.floor(index / 6) % 6), level(index % 6)]
      : Array(3).fill(8 + 10 * (colour - 232));
  return `#${parts.map((part: number) => part.toString(16).padStart(2, "0")).join("")}`;
}

const round = (number: number) => Number(number.toFixed(1));
const columns = (count: number) => round(count * cell.width);
const atColumn = (column: number) => round(margin.side + column * cell.width);
const escapeXml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
