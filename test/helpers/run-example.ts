// Runs a program of test/examples as a user would: `pi-ts` is on its PATH, and knows a provider `mock` with the models of scripted-models.ts.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter } from "node:path";
import type { ReplayServer } from "./replay-server.ts";
import { binaryPath, cleanEnv } from "./run-cli.ts";
import { scriptedModelsConfig } from "./scripted-models.ts";
import { tmp } from "./tmp.ts";

export interface ExampleRun extends AsyncDisposable {
  readonly stdout: string;
  readonly stderr: string;
  /** Null when it took too long and was killed. */
  readonly code: number | null;
  /** The folder that it ran in. */
  readonly cwd: string;
}

/** `command` is the runtime and the program's file; `stdin` is piped in, and ends. */
export async function runExample(
  command: readonly string[],
  args: readonly string[],
  server: Pick<ReplayServer, "url">,
  stdin = "",
): Promise<ExampleRun> {
  const dir = tmp();
  for (const folder of ["bin", "work", "home", "home/.pi-ts"]) mkdirSync(dir.file(folder));
  symlinkSync(binaryPath(), dir.file("bin/pi-ts"));
  writeFileSync(dir.file("home/.pi-ts/config.toml"), scriptedModelsConfig(server));
  const child = Bun.spawn([...command, ...args], {
    cwd: dir.file("work"),
    env: cleanEnv(dir.file("home"), { PATH: `${dir.file("bin")}${delimiter}${process.env.PATH}` }),
    stdin: new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: 20_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return {
    stdout,
    stderr,
    code: child.exitCode,
    cwd: dir.file("work"),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}
