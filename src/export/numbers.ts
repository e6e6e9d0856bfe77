// Numbers and moments in words.

/** `12,345`. */
export function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

/** `950`, `12.3k`, `1.2M`. */
export function compact(value: number): string {
  if (value < 1000) return `${Math.round(value)}`;
  const [scaled, unit] = value < 999_500 ? [value / 1000, "k"] : [value / 1_000_000, "M"];
  return `${scaled < 100 ? scaled.toFixed(1).replace(/\.0$/, "") : Math.round(scaled)}${unit}`;
}

/** `$0.0123`; nothing for what has no known price. */
export function dollars(amount: number): string | undefined {
  if (!(amount > 0)) return undefined;
  if (amount >= 1) return `$${amount.toFixed(2)}`;
  return `$${amount.toFixed(Math.min(8, Math.max(4, 1 - Math.floor(Math.log10(amount)))))}`;
}

/** `2026-11-30 08:15`, in UTC; nothing for what is no moment. */
export function moment(time: number | string): string | undefined {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 16).replace("T", " ");
}

/** `1 message`, `3 messages`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}
