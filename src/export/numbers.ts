// Numbers and moments as the page shows them.
import { grouped } from "../util/numbers.ts";
import { nounFor } from "../util/plural.ts";

/** `950`, `12.3k`, `1.2M`. */
export function compact(value: number): string {
  if (value < 1000) return `${Math.round(value)}`;
  const [scaled, unit] = value < 999_500 ? [value / 1000, "k"] : [value / 1_000_000, "M"];
  return `${scaled < 100 ? scaled.toFixed(1).replace(/\.0$/, "") : Math.round(scaled)}${unit}`;
}

/** `2026-11-30 08:15`, in UTC; nothing for what is no moment. */
export function moment(time: number | string): string | undefined {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 16).replace("T", " ");
}

/** `1 message`, `3,000 messages`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${nounFor(count, noun)}`;
}
