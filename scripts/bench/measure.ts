// Runs a program and says what it took; runs two in turns, so that whatever else the machine does hits both.

export type Quantity = "wall" | "peak";
/** Wall time in milliseconds, peak memory in megabytes; what is not above `leastPeak` could not be seen. */
export type Sample = Readonly<Record<Quantity | "leastPeak", number>>;

export interface Program {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Summary {
  readonly median: number;
  readonly min: number;
}

const limitMs = 60_000;

/** What it prints. Throws when it ends with anything but 0. */
export function run({ command, cwd, env }: Program): string {
  const result = Bun.spawnSync([...command], { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: limitMs });
  check(command, { ...result, stderr: `${result.stderr}` });
  return `${result.stdout}`.trim();
}

interface End {
  readonly exitCode: number | null;
  readonly signalCode?: NodeJS.Signals | number | undefined;
  readonly exitedDueToTimeout?: boolean | undefined;
  readonly stderr: string;
}

function check(command: readonly string[], { exitCode, signalCode, exitedDueToTimeout, stderr }: End): void {
  if (exitCode === 0) return;
  const end = exitedDueToTimeout ? `no end within ${limitMs / 1000} s` : (signalCode ?? exitCode);
  throw new Error(`${command.join(" ")} ended with ${end}: ${stderr.trim()}`);
}

/** Runs a program by `spawner`, a compiled programs/spawner.ts; what it prints is thrown away. Throws when it ends with anything but 0. */
export function measure(spawner: string, program: Program): Sample {
  const task = JSON.stringify({ ...program, timeout: limitMs });
  const { sample, ...end } = JSON.parse(run({ ...program, command: [spawner, task] }));
  check(program.command, end);
  return sample;
}

/** The samples of each program, which take turns: A B A B …, a few rounds of warming up first. */
export function alternate(spawner: string, programs: readonly Program[], rounds: number, warmUps = 3): Sample[][] {
  const samples: Sample[][] = programs.map(() => []);
  for (let round = -warmUps; round < rounds; round++) {
    for (const [i, program] of programs.entries()) {
      const sample = measure(spawner, program);
      if (round >= 0) samples[i]!.push(sample);
    }
  }
  return samples;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return { median: (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2, min: sorted[0]! };
}
