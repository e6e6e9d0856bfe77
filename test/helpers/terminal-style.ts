// The looks of a terminal's text, as its SGR sequences set them (ECMA-48, with xterm's 256 and 24-bit colours).

/** A number of the palette (0 to 15 are the terminal's own colours), or `#rrggbb`. */
export type Colour = number | string;

export interface Style {
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly inverse?: true;
  readonly colour?: Colour;
  readonly background?: Colour;
}

export const plain: Style = {};

const set: Readonly<Record<number, Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
};
const unset: Readonly<Record<number, readonly (keyof Style)[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  39: ["colour"],
  49: ["background"],
};

/** The style after `CSI params m`. */
export function restyle(style: Style, params: string): Style {
  let next = style;
  const codes = params.split(";").map(Number);
  for (let code = codes.shift(); code !== undefined; code = codes.shift()) {
    const gone = unset[code];
    if (code === 0) next = plain;
    else if (code === 38 || code === 48) {
      next = { ...next, [code === 38 ? "colour" : "background"]: takeColour(codes) };
    } else if (gone !== undefined) {
      next = Object.fromEntries(Object.entries(next).filter(([key]) => !gone.includes(key as keyof Style)));
    } else next = { ...next, ...(set[code] ?? basicColour(code)) };
  }
  return next;
}

function takeColour(codes: number[]): Colour {
  if (codes.shift() === 5) return codes.shift() ?? 0;
  return `#${codes
    .splice(0, 3)
    .map((part) => part.toString(16).padStart(2, "0"))
    .join("")}`;
}

function basicColour(code: number): Style {
  const digit = code % 10;
  if (digit > 7) return plain;
  if (code >= 30 && code < 40) return { colour: digit };
  if (code >= 40 && code < 50) return { background: digit };
  if (code >= 90 && code < 100) return { colour: digit + 8 };
  if (code >= 100 && code < 110) return { background: digit + 8 };
  return plain;
}
