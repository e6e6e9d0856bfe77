// The smoke test of a release: what this machine can run says its version, and does one task with tools against a server of ours.
// What it cannot run is said to be so, with the reason; the file's format is checked all the same.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startReplayServer } from "../../test/helpers/replay-server.ts";
import { describeExecutable } from "./executable.ts";
import { findRunner, type Runner } from "./runners.ts";
import { fileName, type Target } from "./targets.ts";

export interface SmokeResult {
  readonly status: "ok" | "not run here" | "FAILED";
  /** Where it ran, why it did not, or what was wrong. */
  readonly detail: string;
}

const minuteMs = 60_000;

/** `runtime` is the Bun that the program was made from: an emulator that cannot run that one says nothing about the program. */
export async function smokeTest(
  target: Target,
  folder: string,
  version: string,
  scratch: string,
  runtime: string | undefined,
): Promise<SmokeResult> {
  const program = join(folder, fileName(target));
  const format = describeExecutable(program);
  if (format !== target.format) return { status: "FAILED", detail: `${format} instead of ${target.format}` };
  chmodSync(program, 0o755);
  const runner = findRunner(target, program, scratch);
  if ("reason" in runner) return { status: "not run here", detail: runner.reason };

  const place = join(scratch, target.name);
  mkdirSync(place, { recursive: true });
  try {
    const problem =
      (await checkVersion(runner, program, version, place)) ?? (await checkTask(target, runner, program, place));
    if (problem === undefined) return { status: "ok", detail: runner.label };
    const excuse =
      runtime === undefined || runner.label === "here" ? undefined : await whyBunFails(runner, runtime, place);
    if (excuse !== undefined)
      return { status: "not run here", detail: `${runner.label} cannot run Bun itself: ${excuse}` };
    return { status: "FAILED", detail: `${runner.label}: ${problem}` };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function checkVersion(
  runner: Runner,
  program: string,
  version: string,
  place: string,
): Promise<string | undefined> {
  const { stdout, ...rest } = await run(runner, [program, "--version"], place);
  return stdout.trim() === `pi-ts ${version}` ? undefined : tell("--version", { stdout, ...rest });
}

/** One file written, one command run (where there is a shell for it), one answer. */
async function checkTask(target: Target, runner: Runner, program: string, place: string): Promise<string | undefined> {
  const hasShell = target.os !== "windows" || (Bun.which("bash") !== null && process.platform === "win32");
  const command = { name: "bash", arguments: { command: "echo $((40 + 2)) > answer.txt; cat answer.txt" } };
  await using server = await startReplayServer([
    {
      turn: {
        calls: [{ name: "write", arguments: { path: "note.txt", content: "smoke\n" } }, ...(hasShell ? [command] : [])],
      },
    },
    { turn: { text: "All is well." } },
  ]);
  const words = ["-p", "--yolo", "--no-session", "--quiet", "-P", "openai", "--base-url", `${server.url}/v1`, "smoke"];
  const result = await run(runner, [program, ...words], place, { OPENAI_API_KEY: "none" });
  const told = tell("-p", result);
  if (result.code !== 0 || result.stdout.trim() !== "All is well.") return told;
  if (server.problems.length > 0) return server.problems.join("; ");
  if (read(join(place, "note.txt")) !== "smoke\n") return `the file was not written; ${told}`;
  if (hasShell && read(join(place, "answer.txt")) !== "42\n") return `the command was not run; ${told}`;
  return undefined;
}

async function whyBunFails(runner: Runner, runtime: string, place: string): Promise<string | undefined> {
  const { stdout, ...rest } = await run(runner, [runtime, "--version"], place);
  return stdout.trim() === Bun.version ? undefined : tell("bun --version", { stdout, ...rest });
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(runner: Runner, command: string[], cwd: string, extra: Record<string, string> = {}): Promise<Ran> {
  const { PATH = "", TEMP, SystemRoot } = process.env;
  const child = Bun.spawn([...runner.prefix, ...command], {
    cwd,
    env: { PATH, HOME: cwd, PI_TS_HOME: join(cwd, "home"), TEMP, SystemRoot, ...runner.env, ...extra },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 2 * minuteMs,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code: child.exitCode, stdout, stderr };
}

function tell(what: string, { code, stdout, stderr }: Ran): string {
  const said = (stderr.trim() || stdout.trim()).split("\n").at(-1);
  return `${what} ended with ${code ?? "a signal"}: ${said?.slice(0, 160)}`;
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
