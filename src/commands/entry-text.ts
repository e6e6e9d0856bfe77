// What an entry says, for lists and for the edit line.
import { oneLine } from "../util/truncate.ts";

type Content = string | readonly { readonly type: string }[];

/** The text of a message; what is no text, such as an image, is left out. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => ("text" in block && typeof block.text === "string" ? [block.text] : [])).join("\n");
}

export function oneLineOf(content: Content, limit = 70): string {
  return oneLine(textOf(content), limit) || "(no text)";
}
