// Text as UTF-8. `Buffer` can do it too, but coming to life takes it longer than a whole short text.

/** Longer texts are counted without a copy of them. */
const longText = 64 * 1024;

export function toUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** How many bytes a text has. */
export function utf8Length(text: string): number {
  return text.length > longText ? Buffer.byteLength(text) : toUtf8(text).length;
}
