// The marks of Markdown within a line, made into looks. What only resembles them stays as written: names such as `__init__`, `**kwargs`,
// patterns such as `src/**/*.ts`, HTML, images.
import { wrapWords } from "../layout.ts";
import type { Paint, Style } from "../style.ts";

/** A stretch of text that looks the same. */
export interface Run {
  readonly text: string;
  readonly paint: Paint;
}

/** A longer line is higher than most windows, and would take long. */
const maxLength = 4000;

const inner = "(?:`[^`]+`|[^`])+?";
/** Between these marks, where no part of a name or of a path touches them from outside. */
const between = (mark: string, name: string, opening = mark) =>
  String.raw`(?<![\w*/.\\])${opening}(?![\s*])(?<${name}>${inner})(?<![\s*/])${mark}(?![\w*/]|\.\w)`;
const marks = new RegExp(
  [
    String.raw`\\(?<escaped>[*_~#\x60])`,
    "(?<!`)(?<ticks>`+)(?!`)(?<code>.+?)(?<!`)\\k<ticks>(?!`)",
    between(String.raw`\*\*\*`, "both"),
    between(String.raw`\*\*`, "strong"),
    between(String.raw`\*`, "emphasis", String.raw`\*(?!\.)`),
    between("~~", "struck"),
    String.raw`(?<![\w!\\)\]])\[(?<label>(?:\x60[^\x60]+\x60|[^\x60\[\]])+)\]\((?<target>[^\s()<>]+(?:\([^\s()]*\)[^\s()<>]*)*)\)`,
  ].join("|"),
  "g",
);

export function inlineRuns(text: string, style: Style, paint: Paint = plain): Run[] {
  if (text.length > maxLength) return [{ text, paint }];
  const within = (part: string, look: Paint) => inlineRuns(part, style, (text) => look(paint(text)));
  const runs: Run[] = [];
  let end = 0;
  for (const { 0: whole, index, groups = {} } of text.matchAll(marks)) {
    const { escaped, code, both, strong, emphasis, struck, label, target = "" } = groups;
    runs.push({ text: text.slice(end, index), paint });
    end = index + whole.length;
    if (escaped !== undefined) runs.push({ text: escaped, paint });
    else if (code !== undefined) runs.push({ text: withoutPadding(code), paint: (text) => style.cyan(paint(text)) });
    else if (both !== undefined) runs.push(...within(both, (text) => style.bold(style.italic(text))));
    else if (strong !== undefined) runs.push(...within(strong, style.bold));
    else if (emphasis !== undefined) runs.push(...within(emphasis, style.italic));
    else if (struck !== undefined) runs.push(...within(struck, style.strike));
    else if (label !== undefined) {
      // Where a link leads is always to be seen.
      const address = { text: target, paint: (text: string) => style.underline(paint(text)) };
      if (label === target) runs.push(address);
      else runs.push(...within(label, plain), { text: " (", paint }, address, { text: ")", paint });
    }
  }
  return [...runs, { text: text.slice(end), paint }];
}

/** The runs as rows of at most `width` columns, none of which leaves a look open. */
export function wrapRuns(runs: readonly Run[], width: number): string[] {
  const text = runs.map((run) => run.text).join("");
  return wrapWords(text, width).map(({ start, end }) => {
    let offset = 0;
    return runs
      .map((run) => {
        const part = run.text.slice(Math.max(0, start - offset), Math.max(0, end - offset));
        offset += run.text.length;
        return run.paint(part);
      })
      .join("");
  });
}

function plain(text: string): string {
  return text;
}

/** Code that begins or ends with a backtick has a blank beside it. */
function withoutPadding(code: string): string {
  return /^ .*[^ ].* $|^ [^ ] $/.test(code) ? code.slice(1, -1) : code;
}
