// What CI runs: format, types, import direction and build side by side, then all tests against that build.
// Ends with the tests' true counts, alone on the last line; the exit code covers every step.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const root = join(import.meta.dir, "..");
const bun = process.execPath;

interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

/** Runs one step in its own process and says how it went. A file takes both streams, in order, whoever still holds them. */
async function step(logFile: string, command: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const start = Bun.nanoseconds();
  const log = openSync(logFile, "a");
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", log, log],
    timeout: 10 * 60_000,
  });
  await child.exited;
  closeSync(log);

  const ok = child.exitCode === 0;
  const output = Bun.stripANSI(readFileSync(logFile, "utf8"));
  const seconds = ((Bun.nanoseconds() - start) / 1e9).toFixed(1);
  console.log(
    `${basename(logFile).padEnd(8)} ${seconds.padStart(6)} s  ${ok ? "ok" : `failed (${child.signalCode ?? child.exitCode})`}`,
  );
  if (!ok) console.log(output.trimEnd());
  return { ok, output };
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Reads the summary at the end of `bun test`; undefined when it is missing or does not add up. */
export function parseCounts(output: string): Counts | undefined {
  const end = [...output.matchAll(/^Ran (\d+) tests? across \d+ files?\./gm)].at(-1);
  if (!end) return undefined;
  const counts: Record<string, number> = {};
  for (const line of output.slice(0, end.index).trimEnd().split("\n").reverse()) {
    const row = /^ (\d+) (\w+)/.exec(line);
    if (!row) break;
    counts[row[2]!] = Number(row[1]);
  }
  const { pass, fail, skip = 0, todo = 0 } = counts;
  if (pass === undefined || fail === undefined || pass + fail + skip + todo !== Number(end[1])) return undefined;
  return { passed: pass, failed: fail, skipped: skip + todo };
}

async function main(logs: string): Promise<number> {
  // The tools' own launchers are Node scripts; run by Bun, they need no Node.
  const biome = [bun, "node_modules/@biomejs/biome/bin/biome", "check", "--config-path=scripts"];
  const tsc = [bun, "node_modules/typescript/bin/tsc", "--noEmit", "-p", "."];
  const [format, types, imports, build] = await Promise.all([
    step(join(logs, "format"), [...biome, "src", "test", "scripts"]),
    step(join(logs, "types"), tsc),
    step(join(logs, "imports"), [bun, "scripts/check-imports.ts"]),
    step(join(logs, "build"), [bun, "scripts/build.ts"]),
  ]);
  const env: Record<string, string> = build.ok ? { PI_TS_BINARY: join(root, "dist/pi-ts") } : {};
  const tests = await step(join(logs, "tests"), [bun, "test", "--parallel=2"], env);

  const counts = parseCounts(tests.output);
  if (!counts) console.log("the test counts could not be read, which counts as one failure");
  if (counts?.skipped) console.log(`${counts.skipped} skipped`);
  const { passed, failed } = counts ?? { passed: 0, failed: 1 };
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && [format, types, imports, build, tests].every((outcome) => outcome.ok) ? 0 : 1;
}

if (import.meta.main) {
  const logs = mkdtempSync(join(tmpdir(), "pi-ts-check-"));
  const code = await main(logs);
  rmSync(logs, { recursive: true, force: true });
  process.exit(code);
}
