/** `1 file`, `2 files`, `3 matches`, `4 branches`. */
export function plural(count: number, noun: string): string {
  return `${count} ${nounFor(count, noun)}`;
}

/** `file`, or `files` where it is not one. */
export function nounFor(count: number, noun: string): string {
  if (count === 1) return noun;
  return `${noun}${noun.endsWith("ch") ? "es" : "s"}`;
}
