// Text as it came, in a block that scrolls where it is wide; of very long text the beginning and the end.
import { grouped } from "../util/numbers.ts";
import { headOf } from "../util/truncate.ts";
import { diffBlock, isDiff } from "./diff.ts";
import { type Html, html } from "./html.ts";

/** What a page shows of one text, in UTF-16 units: from its beginning and from its end. */
export const shownUnits = { head: 150_000, tail: 50_000 };

export interface Clipped {
  readonly head: string;
  readonly tail: string;
  /** How many characters between the two are left out. */
  readonly omitted: number;
}

export function clip(text: string): Clipped {
  const { head: headUnits, tail: tailUnits } = shownUnits;
  if (text.length <= headUnits + tailUnits) return { head: text, tail: "", omitted: 0 };
  const head = headOf(text, headUnits);
  const start = text.length - tailUnits;
  // A pair of surrogates stays together.
  const tail = text.slice(/[\udc00-\udfff]/.test(text.charAt(start)) ? start + 1 : start);
  return { head, tail, omitted: text.length - head.length - tail.length };
}

/** A block of plain text; a unified diff is coloured, unless `plain` says otherwise. */
export function textBlock(text: string, plain = false): Html {
  const { head, tail, omitted } = clip(text);
  const show = !plain && isDiff(head) ? diffBlock : plainBlock;
  if (omitted === 0) return show(head);
  const note = html`<p class="cut">${grouped(omitted)} characters are left out of this page here.</p>`;
  return html`${show(head)}${note}${show(tail)}`;
}

function plainBlock(text: string): Html {
  return html`<pre><code>${text}</code></pre>`;
}
