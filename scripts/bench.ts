// Measures the compiled program against bare compiled programs doing the least for the same job, side by side, as ratios.
// A report, never a verdict: it exits 0 whatever it finds. A new measurement is a row in `rows`.
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureDecode } from "./bench/decode.ts";
import { measureRpc } from "./bench/rpc.ts";
import { writeSession } from "./bench/sessions.ts";
import { buildBinary, compile } from "./build.ts";

interface Row {
  readonly name: string;
  readonly floor: readonly string[];
  readonly subject: readonly string[];
  /** Which of the server's answers both get; the floor another one where `floorAnswer` says so, and then they need not print the same. */
  readonly answer?: string;
  readonly floorAnswer?: string;
  readonly rounds: number;
  /** What flows through in megabytes, for a row that is also about throughput. */
  readonly megabytes?: number;
  /** The largest ratio wanted, for each quantity worth comparing. */
  readonly aims: Partial<Record<Quantity, number>>;
  /** What counts for the subject alone: at least so many megabytes a second, at most so much peak memory in MiB and wall time in ms. */
  readonly limits?: { readonly rate?: number; readonly peak?: number; readonly wall?: number };
  /** Makes what both need, right before they are measured; the result takes it away. */
  readonly prepare?: () => () => void;
}

type Quantity = "wall" | "peak";
/** Wall time in milliseconds, peak memory in megabytes. */
type Sample = Record<Quantity, number>;
const UNITS = { wall: "ms", peak: "MB" } as const;

const WARM_UPS = 3;
const home = mkdtempSync(join(tmpdir(), "pi-ts-bench-"));

/** What `cat` prints twenty times makes 2 GB of lines: one writer, faster than anything reads. */
const floodFile = join(home, "flood.txt");
const floodCommand = `for i in {1..20}; do cat ${floodFile}; done`;
const floodMegabytes = 2000;

async function build() {
  const here = join(import.meta.dir, "bench");
  const names = ["empty", "stream", "aborts", "flood", "parse"];
  const [empty, stream, aborts, flood, parse] = names.map((name) => join(home, name)) as [
    string,
    string,
    string,
    string,
    string,
  ];
  await compile(join(here, "empty.ts"), empty);
  await compile(join(here, "stream.ts"), stream);
  await compile(join(here, "aborts.ts"), aborts);
  await compile(join(here, "flood.ts"), flood);
  await compile(join(here, "parse.ts"), parse);
  return { empty, stream, aborts, flood, parse, subject: await buildBinary() };
}

/** In its own process, so that serving and measuring do not disturb each other more than two programs do. */
async function startServer(): Promise<{ origin: string; stop(): void }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "bench/server.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, BENCH_FLOOD: floodCommand },
  });
  const first = await child.stdout.getReader().read();
  return { origin: new TextDecoder().decode(first.value).trim(), stop: () => child.kill() };
}

function run(command: readonly string[], env: Record<string, string>, stdout: "ignore" | "pipe" = "ignore") {
  const start = Bun.nanoseconds();
  const result = Bun.spawnSync([...command], { cwd: home, env, stdio: ["ignore", stdout, "pipe"], timeout: 60_000 });
  const wall = (Bun.nanoseconds() - start) / 1e6;
  if (result.exitCode !== 0) {
    throw new Error(`${command.join(" ")} ended with ${result.signalCode ?? result.exitCode}: ${result.stderr}`);
  }
  const sample: Sample = { wall, peak: result.resourceUsage.maxRSS / 1e6 };
  return { sample, output: result.stdout?.toString().trim() ?? "" };
}

function envFor(origin: string, answer: string | undefined): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    PI_TS_HOME: join(home, ".pi-ts"),
    PI_PROVIDER: "openai",
    OPENAI_API_KEY: "bench",
    PI_BASE_URL: `${origin}/${answer}/v1`,
  };
}

/** Runs A B A B …, so that whatever else the machine does hits both. */
function measure(row: Row, origin: string): { floor: Sample[]; subject: Sample[] } {
  const [floorEnv, env] = [envFor(origin, row.floorAnswer ?? row.answer), envFor(origin, row.answer)];
  const expected = run(row.floor, floorEnv, "pipe").output;
  const output = run(row.subject, env, "pipe").output;
  if (row.answer && !row.floorAnswer && output !== expected)
    throw new Error(`the answers differ: ${JSON.stringify(output.slice(0, 200))}`);

  const samples: { floor: Sample[]; subject: Sample[] } = { floor: [], subject: [] };
  for (let round = -WARM_UPS; round < row.rounds; round++) {
    const [floor, subject] = [run(row.floor, floorEnv).sample, run(row.subject, env).sample];
    if (round < 0) continue;
    samples.floor.push(floor);
    samples.subject.push(subject);
  }
  return samples;
}

function summarize(samples: Sample[], quantity: Quantity): { median: number; min: number } {
  const sorted = samples.map((sample) => sample[quantity]).sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
  return { median, min: sorted[0]! };
}

function report(row: Row, samples: { floor: Sample[]; subject: Sample[] }): void {
  for (const [quantity, aim] of Object.entries(row.aims) as [Quantity, number][]) {
    const floor = summarize(samples.floor, quantity);
    const subject = summarize(samples.subject, quantity);
    const ratio = subject.median / floor.median;
    const show = (s: { median: number; min: number }) =>
      `${s.median.toFixed(1)} / ${s.min.toFixed(1)} ${UNITS[quantity]}`;
    print(
      row.name,
      quantity,
      show(floor),
      show(subject),
      `${ratio.toFixed(2)}×`,
      `≤ ${aim}×`,
      verdict(quantity, floor.min, ratio <= aim),
    );
  }
  if (row.limits) reportLimits(row, row.limits, samples);
}

function reportLimits(
  row: Row,
  limits: NonNullable<Row["limits"]>,
  samples: { floor: Sample[]; subject: Sample[] },
): void {
  const rates = (side: Sample[]) => ((row.megabytes ?? 0) * 1000) / summarize(side, "wall").median;
  const rate = rates(samples.subject);
  const verdictOf = (reached: boolean) => (reached ? "reached" : "missed");
  if (limits.wall !== undefined) {
    const { median } = summarize(samples.subject, "wall");
    print(row.name, "wall", "", `${median.toFixed(1)} ms`, "", `≤ ${limits.wall}`, verdictOf(median <= limits.wall));
  }
  if (limits.rate !== undefined) {
    const [floor, subject] = [`${rates(samples.floor).toFixed(0)} MB/s`, `${rate.toFixed(0)} MB/s`];
    print(row.name, "rate", floor, subject, "", `≥ ${limits.rate}`, verdictOf(rate >= limits.rate));
  }
  if (limits.peak === undefined) return;
  const peak = (summarize(samples.subject, "peak").median * 1e6) / 2 ** 20;
  const hidden = peak > limits.peak && peak * 1024 <= process.resourceUsage().maxRSS;
  const end = hidden ? hiddenPeak : verdictOf(peak <= limits.peak);
  print(row.name, "peak", "", `${peak.toFixed(1)} MiB`, "", `≤ ${limits.peak}`, end);
}

const hiddenPeak = "unknown: hidden by the bench's own peak";

/** A child starts with the peak memory of the process that spawned it (Linux), so nothing below the bench's own can be seen. */
function verdict(quantity: Quantity, floor: number, reached: boolean): string {
  if (quantity === "peak" && floor <= (process.resourceUsage().maxRSS * 1024) / 1e6) return hiddenPeak;
  return reached ? "reached" : "missed";
}

function print(...cells: string[]): void {
  const widths = [26, 6, 20, 20, 7, 7, 0];
  console.log(
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** RPC and JSON mode, beside the start and the memory of a program that does nothing. */
async function reportRpc(empty: string, subject: string, origin: string): Promise<void> {
  const env = envFor(origin, "long");
  const floor = Array.from({ length: 10 }, () => run([empty], env).sample);
  const { firstAnswerMs, p50, p99, idleMb, eventsPerSecond } = await measureRpc(subject, home, env);
  const [start, peak] = [summarize(floor, "wall").median, summarize(floor, "peak").median];
  const ratio = (value: number, base: number) => `${(value / base).toFixed(2)}×`;
  print(
    "RPC: first answer",
    "wall",
    `${start.toFixed(1)} ms`,
    `${firstAnswerMs.toFixed(1)} ms`,
    ratio(firstAnswerMs, start),
  );
  print("RPC: get_state", "wall", "", `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)} ms`);
  if (idleMb !== undefined) {
    print("RPC: memory at rest", "now", `${peak.toFixed(1)} MB`, `${idleMb.toFixed(1)} MB`, ratio(idleMb, peak));
  }
  print("JSON: 20,000 deltas", "rate", "", `${Math.round(eventsPerSecond)} events/s`);
}

/** The SDK's reading of a streaming answer, in this process. */
function reportDecode(): void {
  const { lines, bytes } = measureDecode();
  const aim = 1.5;
  const rate = (value: number) => `${Math.round(value / 1000)}k events/s`;
  const report = (name: string, floor: number, value: number, ...rest: string[]) =>
    print(name, "rate", rate(floor), rate(value), `${(floor / value).toFixed(2)}×`, ...rest);
  const verdict = (floor: number, value: number) => [`≤ ${aim}×`, floor / value <= aim ? "reached" : "missed"];
  report("SDK: lines decoded", lines.floor, lines.decoded, ...verdict(lines.floor, lines.decoded));
  report("SDK: bytes decoded", bytes.floor, bytes.decoded, ...verdict(bytes.floor, bytes.decoded));
  report("SDK: bytes validated", bytes.floor, bytes.validated);
}

async function main(): Promise<void> {
  const { empty, stream, aborts, flood, parse, subject } = await build();
  const sessions = join(home, "sessions");
  const longSession = join(sessions, "2026-01-01T00-00-00-000Z_long.jsonl");
  const lines = `${"x".repeat(79)}\n`.repeat(12_500);
  for (let size = 0; size < floodMegabytes / 20; size++) appendFileSync(floodFile, lines);
  const ask = [subject, "-p", "hi", "--quiet"];
  const rows: readonly Row[] = [
    { name: "--version", floor: [empty], subject: [subject, "--version"], rounds: 40, aims: { wall: 1.3 } },
    { name: "one-shot answer", floor: [stream], subject: ask, answer: "short", rounds: 40, aims: { wall: 1.6 } },
    {
      name: "20,000 deltas",
      floor: [stream],
      subject: ask,
      answer: "long",
      rounds: 15,
      aims: { wall: 1.6, peak: 1.6 },
    },
    // Four times as much may take four times as long: a `write` call whose arguments come in fragments of 20 bytes.
    {
      name: "1 MB of arguments / ¼ MB",
      floor: [...ask, "-m", "gpt-5.4-pro"],
      floorAnswer: "arguments-256k",
      // A window that a megabyte fits into.
      subject: [...ask, "-m", "gpt-5.4-pro"],
      answer: "arguments-1m",
      rounds: 10,
      aims: { wall: 4, peak: 4 },
    },
    // The same program after 50 and after 550 answers given up in the middle.
    {
      name: "550 aborted streams / 50",
      floor: [aborts, "50"],
      subject: [aborts, "550"],
      floorAnswer: "endless",
      answer: "endless",
      rounds: 3,
      aims: { peak: 1.2 },
    },
    // A command whose output is far more than a result can hold: read, looked at, counted and dropped. The floor only reads.
    {
      name: "bash flood, 2 GB",
      floor: [flood, floodCommand],
      floorAnswer: "short",
      subject: [...ask, "--yolo"],
      answer: "flood",
      rounds: 3,
      megabytes: floodMegabytes,
      aims: { wall: 2 },
      limits: { rate: 500, peak: 120 },
    },
    {
      name: "1,000 sessions of 1 MB",
      floor: [empty],
      subject: [subject, "sessions", "list", "--session-dir", sessions],
      rounds: 10,
      aims: {},
      limits: { wall: 500 },
      prepare: () => {
        for (let i = 0; i < 1000; i++) writeSession(sessions, `session-${i}`, 1_000_000);
        return () => rmSync(sessions, { recursive: true });
      },
    },
    // The floor reads the file and parses its lines.
    {
      name: "going on in 57 MB",
      floor: [parse, longSession],
      floorAnswer: "short",
      subject: [...ask, "--resume", longSession],
      answer: "short",
      rounds: 10,
      aims: { wall: 2, peak: 2 },
      limits: { wall: 1500, peak: 300 },
      prepare: () => {
        writeSession(sessions, "long", 57_000_000);
        return () => rmSync(sessions, { recursive: true });
      },
    },
  ].filter(({ name }) => name.includes(process.argv[2] ?? ""));

  const server = await startServer();
  try {
    print("median / min", "", "floor", "pi-ts", "ratio", "aim", "");
    for (const row of rows) {
      const cleanUp = row.prepare?.();
      try {
        report(row, measure(row, server.origin));
      } catch (error) {
        print(row.name, `not measured: ${(error as Error).message}`);
      } finally {
        cleanUp?.();
      }
    }
    if ("RPC JSON".includes(process.argv[2] ?? "")) await reportRpc(empty, subject, server.origin);
    if ("SDK".includes(process.argv[2] ?? "")) reportDecode();
  } finally {
    server.stop();
  }
}

try {
  await main();
} catch (error) {
  console.error((error as Error).message);
} finally {
  rmSync(home, { recursive: true, force: true });
}
