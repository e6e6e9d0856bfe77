// Numbers in words.

/** `12,345`. */
export function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

/** How many tokens: `200k`, `1.05M`. */
export function shortTokens(count: number): string {
  return count >= 1_000_000 ? `${+(count / 1_000_000).toFixed(2)}M` : `${Math.round(count / 1000)}k`;
}

/** `$0.0123`; small sums keep two digits that say something. Nothing for what has no known price. */
export function dollars(amount: number): string | undefined {
  if (!(amount > 0)) return undefined;
  const decimals = amount >= 1 ? 2 : Math.min(8, Math.max(4, 1 - Math.floor(Math.log10(amount))));
  return `$${amount.toFixed(decimals)}`;
}
