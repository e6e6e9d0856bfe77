// Untrusted text made safe for a terminal: what could move the cursor, recolour, retitle or reorder is shown instead of sent.

// C0 without tab and LF, DEL, C1, the bidi controls (Unicode TR9), line separators, and characters that show nothing but are there: blanks
// without width, invisible operators, and the tags in which whole sentences can hide.
const unsafe =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** `text` with control characters visible (ESC as ␛, others as their picture or code point); CRLF becomes LF. Safe on pieces of a stream. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(unsafe, picture);
}

/** `text` as one visible line: line breaks are shown as ⏎. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "⏎").replaceAll("\t", " ");
}

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
