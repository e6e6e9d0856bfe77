// Builds dist/pi-ts for this platform. Tests, bench and try import `buildBinary`; bench compiles its floors, and release.ts the
// programs of all platforms, with the same flags.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { recordOrder } from "./build/order.ts";

const root = join(import.meta.dir, "..");
const source = join(root, "src/main.ts");
const binary = join(root, "dist/pi-ts");

const FLAGS = [
  "--compile",
  "--minify",
  "--bytecode",
  "--splitting",
  "--format=esm",
  // Nearly all that a start runs, it runs once; src/main.ts ends this.
  "--compile-jit-policy=32",
  // A `.env` or bunfig.toml in the user's directory is not ours to read.
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

/** Gives `work` a folder beside `outfile`, since programs may not be allowed to run from where temporary files are. */
async function withFolder<Value>(outfile: string, work: (folder: string) => Promise<Value>): Promise<Value> {
  mkdirSync(dirname(outfile), { recursive: true });
  const folder = mkdtempSync(join(dirname(outfile), ".build-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface CrossCompilation {
  /** As Bun names it: `bun-linux-x64-musl`. */
  readonly target: string;
  /** The Bun program of that platform, which becomes the body of the compiled one. */
  readonly runtime: string;
  /** What the program is called in itself, since that name is part of its bytes. Defaults to the name of the file. */
  readonly name: string;
}

/** One program to build, and where to. */
export interface ProgramBuild {
  readonly outfile: string;
  readonly cross?: CrossCompilation;
}

export interface CompileOptions {
  readonly cross?: CrossCompilation | undefined;
  /** The file that says in which order the program's functions are wanted. */
  readonly order?: string;
  /** Ends the build. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Compiles one entry file into one program, for this platform unless told otherwise; throws with the compiler's output.
 * The file appears by rename, so a running copy stays as it is, and so does the file that is there when a build fails.
 */
export async function compile(
  entry: string,
  outfile: string,
  { cross, order, signal }: CompileOptions = {},
): Promise<void> {
  const flags = [
    ...FLAGS,
    ...(cross ? [`--target=${cross.target}`, `--compile-executable-path=${cross.runtime}`] : []),
    ...(order ? [`--bytecode-order=${order}`] : []),
  ];
  await withFolder(outfile, async (folder) => {
    const staged = join(folder, cross?.name ?? basename(outfile));
    // The compiler writes the program to its working directory first, and leaves it there when it is ended. What it calls the parts of a
    // program depends on the way from there to the source: it is the same in every folder beside `binary`.
    await withFolder(binary, async (cwd) => {
      const build = Bun.spawn([process.execPath, "build", entry, ...flags, `--outfile=${staged}`], {
        cwd,
        stdio: ["ignore", "pipe", "pipe"],
        ...(signal ? { signal } : {}),
        killSignal: "SIGKILL",
      });
      const [stdout, stderr, code] = await Promise.all([build.stdout.text(), build.stderr.text(), build.exited]);
      if (code !== 0) throw new Error(`bun build ${relative(root, entry)} ended with ${code}\n${stdout}${stderr}`);
    });
    renameSync(staged, outfile);
  });
}

/**
 * Compiles pi-ts itself. What a short task runs lies together in it, so that a start reads and decodes less: one program is built to see
 * what that is, and one with what was seen, which is the same for every platform (Bun's documentation, "Profile-guided bytecode layout").
 */
async function compileProgram(builds: readonly ProgramBuild[], signal?: AbortSignal): Promise<void> {
  await withFolder(binary, async (folder) => {
    const [program, order] = [join(folder, "pi-ts"), join(folder, "order")];
    await compile(source, program, { signal });
    await recordOrder(program, order, folder, { signal });
    for (const { outfile, cross } of builds) await compile(source, outfile, { cross, order, signal });
  });
}

/** The same for a command: a signal ends it with the error `ended`, and what the compiler was about goes. */
export async function compileUnlessEnded(builds: readonly ProgramBuild[], ended: string): Promise<void> {
  const ending = new AbortController();
  const end = () => ending.abort(new Error(ended));
  const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, end);
  try {
    await compileProgram(builds, ending.signal);
  } catch (error) {
    ending.signal.throwIfAborted();
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}

let built: Promise<string> | undefined;

/** The path of a fresh dist/pi-ts, built at most once per process; `PI_TS_BINARY` names one that is ready already. */
export function buildBinary(): Promise<string> {
  built ??= process.env.PI_TS_BINARY
    ? Promise.resolve(process.env.PI_TS_BINARY)
    : compileProgram([{ outfile: binary }]).then(() => binary);
  return built;
}

if (import.meta.main) {
  const start = Bun.nanoseconds();
  try {
    await compileUnlessEnded([{ outfile: binary }], "The build was ended.");
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
  const seconds = ((Bun.nanoseconds() - start) / 1e9).toFixed(1);
  const megabytes = Math.round(Bun.file(binary).size / 1e6);
  console.error(`dist/pi-ts: ${megabytes} MB in ${seconds} s`);
}
