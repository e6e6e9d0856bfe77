// Untrusted text made safe for a terminal: what could move the cursor, recolour, retitle or reorder is shown instead of sent.

// C0 without tab and LF, DEL, C1, the bidi controls (Unicode TR9), and lone surrogates' kin are never passed on.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** `text` with control characters visible (ESC as ␛, others as their picture or code point); CRLF becomes LF. Safe on pieces of a stream. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(unsafe, picture);
}

/** `text` as one visible line: line breaks are shown as ⏎. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "⏎").replaceAll("\t", " ");
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
