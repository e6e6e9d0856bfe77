// Changes, line by line in colour: unified diffs that are text already, and an old and a new text.
import { diffLines } from "diff";
import { escapeHtml, type Html, html, trusted } from "./html.ts";

/** After this time, and for long texts at once, a plain "all out, all in" takes the place of the shortest diff. */
const timeoutMs = 200;
const longUnits = 100_000;

const beginnings = /^(?:diff --git \S|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|--- \S.*\n\+\+\+ \S)/m;

/** Whether the text holds a unified diff near its beginning. */
export function isDiff(text: string): boolean {
  return beginnings.test(text.slice(0, 4000));
}

export function diffBlock(text: string): Html {
  return html`<pre class="diff"><code>${colourLines(escapeHtml(text))}</code></pre>`;
}

/** The lines of a diff, escaped already, each run of a kind in an element of its own. */
export function colourLines(escaped: string): Html {
  const lines = escaped.split(/(?<=\n)/);
  let result = "";
  let run = "";
  let kind: string | undefined;
  const flush = () => {
    if (run !== "") result += kind === undefined ? run : `<span class="${kind}">${run}</span>`;
    run = "";
  };
  for (const line of lines) {
    const next = kindOf(line);
    if (next !== kind) flush();
    kind = next;
    run += line;
  }
  flush();
  return trusted(result);
}

function kindOf(line: string): string | undefined {
  if (/^(?:\+\+\+ |--- |diff --git |index [0-9a-f]+\.\.)/.test(line)) return "file";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("@@") ? "hunk" : undefined;
}

/** What becomes of `before`, without line numbers. */
export function changeBlock(before: string, after: string): Html {
  return html`<pre class="diff"><code>${colourLines(escapeHtml(marked(before, after)))}</code></pre>`;
}

function marked(before: string, after: string): string {
  const [old, young] = [ended(before), ended(after)];
  const isLong = old.length + young.length > longUnits;
  const changes = isLong ? undefined : diffLines(old, young, { timeout: timeoutMs });
  if (!changes) return withMark("-", old) + withMark("+", young);
  return changes.map(({ added, removed, value }) => withMark(added ? "+" : removed ? "-" : " ", value)).join("");
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function withMark(mark: string, text: string): string {
  return text === "" ? "" : mark + text.replace(/\n(?!$)/g, `\n${mark}`);
}
