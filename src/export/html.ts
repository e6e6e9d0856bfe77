// HTML as a type of its own: a template escapes all that is put into it, unless it is HTML already.
import { visible } from "../util/sanitize.ts";

/** HTML that is safe to put into a page as it is. Made by `html` and, where the source has been looked through, by `trusted`. */
export class Html {
  constructor(readonly text: string) {}
}

export type Part = string | number | Html | readonly Part[] | false | undefined;

/** Strings become text, of an element or of a quoted attribute; `false` and `undefined` nothing; a list its parts. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? "";
  parts.forEach((part, index) => {
    text += toText(part) + (strings[index + 1] ?? "");
  });
  return new Html(text);
}

function toText(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(toText).join("");
  return escapeHtml(`${part}`);
}

/** Text for an element or a quoted attribute; characters that hide, reorder or control are shown as pictures or code points. */
export function escapeHtml(text: string): string {
  return Bun.escapeHTML(visible(text));
}

/** To be called with markup of our own only. */
export function trusted(text: string): Html {
  return new Html(text);
}
