/** `1 file`, `2 files`, `3 matches`. */
export function plural(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun}${noun.endsWith("ch") ? "es" : "s"}`;
}
