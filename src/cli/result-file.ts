// `--result FILE`: the verdict of a run as one JSON object, true whatever way the run ends. It says `running` from the start on, which shows
// that the file can be written and is what a run leaves that was killed. The run's end puts the verdict in its place, and the process's end
// another one where the exit code says otherwise.
import { fstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { App } from "../app/app.ts";
import { interrupted, toRunResult, toVerdict, unbegun, type Verdict } from "../modes/one-shot.ts";
import { signalOf } from "../modes/signals.ts";
import type { RunResult } from "../protocol/outcome.ts";
import { now } from "../util/clock.ts";
import { AppError, toAppError } from "../util/error.ts";
import { exitOnSignals } from "../util/exit-on-signals.ts";
import { log } from "../util/log.ts";
import { realTarget, resolvePath } from "../util/paths.ts";
import { writePrivateFile } from "../util/private-file.ts";
import { stdoutFailure } from "../util/stdout.ts";

export interface ResultFile {
  /** What `app` has done is part of the verdict from now on. */
  follow(app: App): void;
  /** Writes the verdict of a run that came to its end; what it is then, since one that cannot be written is no success. */
  settle(result: RunResult): RunResult;
  /** Why there is no run, or why it broke off. */
  fail(thrown: unknown): void;
}

/** Throws `AppError` `usage` when the file cannot be written. */
export function openResultFile(path: string, cwd: string): ResultFile {
  const target = findTarget(resolvePath(cwd, path));
  let app: App | undefined;
  let settled: RunResult | undefined;
  let written: RunResult | undefined;
  let failure: AppError | undefined;

  function write(result: RunResult): void {
    writePrivateFile(target, `${JSON.stringify(result, null, 2)}\n`);
    written = result;
  }

  /** The verdict that fits the exit code, whatever the run had said of itself. */
  function conclude(exitCode: number): RunResult {
    const said = settled?.exitCode === exitCode ? settled : undefined;
    if (said) return said;
    const known = settled ?? (app ? toRunResult(running, app, { text: "", denied: [] }) : nothing());
    return { ...known, ...explain(exitCode), exitCode, durationMs: Math.round(now()) };
  }

  function explain(exitCode: number): Verdict {
    if (signalOf(exitCode)) return interrupted(exitCode);
    if (failure) return { ...toVerdict(failure), exitCode };
    if (exitCode === 0) return { status: "done", exitCode, reason: null };
    const broken = stdoutFailure();
    const message = broken ? `Could not write to stdout: ${broken.message}` : "The run broke off";
    return toVerdict(new AppError(broken ? "output" : "internal", message));
  }

  // While nobody else listens, such as before the run, a signal would end the process without a word.
  exitOnSignals();
  try {
    write(nothing());
  } catch (error) {
    throw cannotWrite(target, error);
  }
  process.on("exit", (code) => {
    const result = conclude(code);
    if (result === written) return;
    try {
      write(result);
    } catch (error) {
      log().error(cannotWrite(target, error).message);
      process.exitCode = code || 1;
    }
  });
  return {
    follow(followed) {
      app = followed;
    },
    settle(result) {
      settled = result;
      try {
        write(result);
      } catch (error) {
        const { message } = cannotWrite(target, error);
        if (result.exitCode === 0) settled = { ...result, ...toVerdict(new AppError("output", message)) };
      }
      return settled;
    },
    fail(thrown) {
      failure = toAppError(thrown);
    },
  };
}

const running = { status: "running", exitCode: null, reason: null } as const;

const nothing = () => unbegun(running);

/** Where the file is or will be; what is no regular file must not be replaced by one. */
function findTarget(path: string): string {
  try {
    // Asked by the name that was given: what a name such as /dev/stdout leads to may have none of its own.
    const there = statSync(path, { throwIfNoEntry: false });
    if (there && !there.isFile()) throw new Error("it is not a regular file");
    if (there && isStdout(there)) throw new Error("stdout goes there, and its answer would be lost");
    const target = realTarget(path);
    if (!statSync(dirname(target)).isDirectory()) throw new Error("its folder is none");
    return target;
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function isStdout({ dev, ino }: { readonly dev: number; readonly ino: number }): boolean {
  try {
    const stdout = fstatSync(1);
    return stdout.isFile() && stdout.dev === dev && stdout.ino === ino;
  } catch {
    return false;
  }
}

function cannotWrite(path: string, error: unknown): AppError {
  return new AppError("usage", `--result: cannot write ${path}: ${(error as Error).message}`, { cause: error });
}
