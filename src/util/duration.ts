// How long something takes: in words, and as people write it.

/** The longest wait of a timer, 24.8 days; a longer one would be over at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** `850 ms`, `3.2 s`, `2 min 5 s`. */
export function describeDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Milliseconds of `90` (seconds), `1.5s`, `10m`, `1h30m` or `500ms`; undefined for anything else, and for nothing at all. */
export function parseDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const isPlain = /^\d+(?:\.\d+)?$/.test(text);
  if (!isPlain && (parts.length === 0 || parts.map(([part]) => part).join("") !== text)) return undefined;
  const ms = isPlain
    ? Number(text) * unitMs.s
    : parts.reduce((sum, [, n, unit]) => sum + Number(n) * unitMs[unit as keyof typeof unitMs], 0);
  return ms > 0 ? Math.ceil(ms) : undefined;
}
