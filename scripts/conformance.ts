// Runs the recorded conversations of test/fixtures/wire against the compiled program and tells where its records differ from the recorded ones:
// which records come and in which order, and which keys they have, of which JSON type. Exit code 1 when a difference is not kept on purpose.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { buildBinary } from "./build.ts";
import { type Comparison, compareRecords, type Difference } from "./conformance/compare.ts";
import { type KeptDifference, kept, keptFor } from "./conformance/kept.ts";
import { readRecording, replay } from "./conformance/replay.ts";

const recordings = join(import.meta.dir, "../test/fixtures/wire");

export interface ScenarioResult extends Comparison {
  readonly scenario: string;
  readonly problems: readonly string[];
}

export interface Found {
  readonly scenario: string;
  readonly difference: Difference;
}

export interface ConformanceReport {
  readonly results: readonly ScenarioResult[];
  /** Differences that nobody wants. */
  readonly open: readonly Found[];
  /** Those that stay, by the row of the table that says so. */
  readonly kept: ReadonlyMap<KeptDifference, readonly Found[]>;
  /** Rows of the table that nothing needs. */
  readonly stale: readonly KeptDifference[];
}

/** Runs the scenarios whose names begin with `only`, `width` at a time. */
export async function runConformance(binary: string, only = "", width = 4): Promise<ConformanceReport> {
  const names = readdirSync(recordings)
    .filter((name) => name.endsWith(".jsonl") && name.startsWith(only))
    .sort();
  const results: ScenarioResult[] = [];
  const waiting = [...names];
  async function work(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const scenario = name.replace(".jsonl", "");
      const { expected, actual, problems } = await replay(scenario, readRecording(join(recordings, name)), binary);
      results.push({ scenario, problems, ...compareRecords(expected, actual) });
    }
  }
  await Promise.all(Array.from({ length: width }, work));
  results.sort((one, other) => (one.scenario < other.scenario ? -1 : 1));
  const all = results.flatMap(({ scenario, differences }) =>
    differences.map((difference) => ({ scenario, difference })),
  );
  const byRow = Map.groupBy(all, ({ scenario, difference }) => keptFor(scenario, difference));
  const open = byRow.get(undefined) ?? [];
  const rows = new Map([...byRow].filter((pair): pair is [KeptDifference, Found[]] => pair[0] !== undefined));
  return { results, open, kept: rows, stale: kept.filter((row) => !rows.has(row)) };
}

/** The report as text: a line for each scenario, every difference once, and the sums. */
export function formatReport({ results, open, kept, stale }: ConformanceReport): string {
  const lines = results.map(
    ({ scenario, records, matchingRecords, keys, matchingKeys }) =>
      `${scenario.padEnd(20)} records ${share(matchingRecords, records)}   keys ${share(matchingKeys, keys)}`,
  );
  const sum = (field: "records" | "matchingRecords" | "keys" | "matchingKeys") =>
    results.reduce((total, result) => total + result[field], 0);
  const isKey = ({ difference }: Found) => difference.key !== undefined;
  const keptFound = [...kept.values()].flat();
  const [records, keys] = [sum("records"), sum("keys")];
  const [keptRecords, keptKeys] = [keptFound.filter((found) => !isKey(found)).length, keptFound.filter(isKey).length];
  lines.push(
    `${"all".padEnd(20)} records ${share(sum("matchingRecords"), records)}   keys ${share(sum("matchingKeys"), keys)}`,
    `${"without those kept".padEnd(20)} records ${share(sum("matchingRecords"), records - keptRecords)}   keys ${share(sum("matchingKeys"), keys - keptKeys)}`,
  );
  const problems = results.flatMap(({ scenario, problems }) => problems.map((problem) => `  ${scenario}: ${problem}`));
  if (problems.length > 0) lines.push("", "Problems:", ...problems);
  if (open.length > 0) lines.push("", "Differences:", ...gather(open));
  for (const [row, found] of kept) lines.push("", `Kept: ${row.reason}`, ...gather(found));
  for (const row of stale) lines.push("", `Kept, but not seen: ${row.record} ${row.key ?? ""} (${row.reason})`);
  return `${lines.join("\n")}\n`;
}

function share(part: number, whole: number): string {
  const percent = whole === 0 ? 100 : Math.floor((part / whole) * 1000) / 10;
  return `${String(part).padStart(5)}/${String(whole).padEnd(5)} ${percent.toFixed(1).padStart(5)} %`;
}

/** One line for each difference, with the scenarios it was seen in. */
function gather(found: readonly Found[]): string[] {
  const text = ({ difference: { record, key, expected, actual } }: Found) =>
    key === undefined
      ? `${record}: ${expected === "absent" ? "more than was recorded" : "missing here"}`
      : `${record} ${key}: ${expected} in the recording, ${actual} here`;
  return [...Map.groupBy(found, text)].map(([line, ones]) => {
    const scenarios = [...new Set(ones.map(({ scenario }) => scenario.slice(0, 2)))];
    return `  ${line} (${scenarios.join(" ")}${ones.length > 1 ? `, ${ones.length} times` : ""})`;
  });
}

if (import.meta.main) {
  const report = await runConformance(await buildBinary(), process.argv[2]);
  process.stdout.write(formatReport(report));
  const isWell = report.open.length === 0 && report.results.every(({ problems }) => problems.length === 0);
  process.exit(isWell ? 0 : 1);
}
