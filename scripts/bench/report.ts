// The table of the bench: one line for each quantity of a row, printed as soon as it is known.
import { type Quantity, type Sample, type Summary, summarize } from "./measure.ts";
import type { Row } from "./rows.ts";

export interface Line {
  readonly name: string;
  readonly what: string;
  readonly floor?: string;
  readonly subject?: string;
  readonly ratio?: string;
  readonly aim?: string;
  /** Whether the aim is reached, or why that is not known. */
  readonly verdict?: boolean | string;
}

const units = { wall: "ms", peak: "MB" } as const;
const hiddenPeak = "unknown: hidden by the peak of what measures it";

export function printLine(line: Line): void {
  const { name, what, floor = "", subject = "", ratio = "", aim = "", verdict = "" } = line;
  const end = typeof verdict === "string" ? verdict : verdict ? "reached" : "missed";
  const widths = [28, 7, 20, 20, 13, 9, 0];
  const cells = [name, what, floor, subject, ratio, aim, end].map((cell, i) => cell.padEnd(widths[i] ?? 0));
  console.log(cells.join("  ").trimEnd());
}

export function printHead(): void {
  printLine({
    name: "median / minimum",
    what: "",
    floor: "floor",
    subject: "pi-ts",
    ratio: "pi-ts / floor",
    aim: "aim",
  });
}

export function showSummary({ median, min }: Summary, unit: string): string {
  return `${median.toFixed(1)} / ${min.toFixed(1)} ${unit}`;
}

export function showRatio(subject: number, floor: number): string {
  return `${(subject / floor).toFixed(2)}×`;
}

/** All that a row wants to be told of its samples. */
export function reportRow(row: Row, floor: readonly Sample[], subject: readonly Sample[]): void {
  for (const [quantity, aim] of Object.entries(row.aims) as [Quantity, number][]) {
    const [least, ours] = [of(floor, quantity), of(subject, quantity)];
    const isHidden = quantity === "peak" && isHiddenPeak(floor);
    printLine({
      name: row.name,
      what: quantity,
      floor: showSummary(least, units[quantity]),
      subject: showSummary(ours, units[quantity]),
      ratio: showRatio(ours.median, least.median),
      aim: `≤ ${aim}×`,
      verdict: isHidden ? hiddenPeak : ours.median / least.median <= aim,
    });
  }
  reportLimits(row, floor, subject);
}

function reportLimits(
  { name, limits, megabytes = 0 }: Row,
  floor: readonly Sample[],
  subject: readonly Sample[],
): void {
  const [least, ours] = [of(floor, "wall"), of(subject, "wall")];
  const wall = ours.median;
  if (limits?.wall !== undefined) {
    printLine({
      name,
      what: "wall",
      floor: showSummary(least, "ms"),
      subject: showSummary(ours, "ms"),
      ratio: showRatio(wall, least.median),
      aim: `≤ ${limits.wall} ms`,
      verdict: wall <= limits.wall,
    });
  }
  if (limits?.rate !== undefined) {
    const rate = (milliseconds: number) => (megabytes * 1000) / milliseconds;
    printLine({
      name,
      what: "rate",
      floor: `${rate(least.median).toFixed(0)} MB/s`,
      subject: `${rate(wall).toFixed(0)} MB/s`,
      aim: `≥ ${limits.rate}`,
      verdict: rate(wall) >= limits.rate,
    });
  }
  if (limits?.peak !== undefined) {
    const megabytes = of(subject, "peak").median;
    const mebibytes = (megabytes * 1e6) / 2 ** 20;
    const isReached = mebibytes <= limits.peak;
    const verdict = !isReached && isHiddenPeak(subject) ? hiddenPeak : isReached;
    printLine({ name, what: "peak", subject: `${mebibytes.toFixed(1)} MiB`, aim: `≤ ${limits.peak}`, verdict });
  }
}

function of(samples: readonly Sample[], quantity: Quantity): Summary {
  return summarize(samples.map((sample) => sample[quantity]));
}

/** A child starts with the peak memory of the process that spawned it (Linux), so nothing below that can be seen. */
function isHiddenPeak(samples: readonly Sample[]): boolean {
  return samples.some(({ peak, leastPeak }) => peak <= leastPeak);
}
