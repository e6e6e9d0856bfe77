// Cutting text without breaking a character.

/** The first `limit` UTF-16 units of `text`, one less where the cut would split a surrogate pair. */
export function headOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/** `text`, cut to `limit` characters with the number of those left out behind it. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = headOf(text, limit);
  return `${head}\n... <truncated, ${text.length - head.length} more chars>`;
}

/** One line of at most `limit` characters: white space folded, an ellipsis where something was cut. */
export function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${headOf(line, limit - 1)}…`;
}
