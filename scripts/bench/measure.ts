// Runs a program and says what it took; runs two in turns, so that whatever else the machine does hits both.

export type Quantity = "wall" | "peak";
/** Wall time in milliseconds, peak memory in megabytes. */
export type Sample = Readonly<Record<Quantity, number>>;

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

/** Throws when it ends with anything but 0. What it prints is thrown away, unless wanted. */
export function run(program: Program, stdout: "ignore" | "pipe" = "ignore"): { sample: Sample; output: string } {
  const { command, cwd, env } = program;
  const start = Bun.nanoseconds();
  const result = Bun.spawnSync([...command], { cwd, env, stdio: ["ignore", stdout, "pipe"], timeout: limitMs });
  const wall = (Bun.nanoseconds() - start) / 1e6;
  if (result.exitCode !== 0) {
    const end = result.exitedDueToTimeout
      ? `no end within ${limitMs / 1000} s`
      : (result.signalCode ?? result.exitCode);
    throw new Error(`${command.join(" ")} ended with ${end}: ${result.stderr.toString().trim()}`);
  }
  return {
    sample: { wall, peak: result.resourceUsage.maxRSS / 1e6 },
    output: result.stdout?.toString().trim() ?? "",
  };
}

/** The samples of each program, which take turns: A B A B …, a few rounds of warming up first. */
export function alternate(programs: readonly Program[], rounds: number, warmUps = 3): Sample[][] {
  const samples: Sample[][] = programs.map(() => []);
  for (let round = -warmUps; round < rounds; round++) {
    for (const [i, program] of programs.entries()) {
      const { sample } = run(program);
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
