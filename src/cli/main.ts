// The command line: which command is meant, whether its words are right, and what its end means for the exit code.
import { existsSync } from "node:fs";
import type { Io } from "../modes/io.ts";
import { signalOf } from "../modes/signals.ts";
import { AppError, describeError, toAppError } from "../util/error.ts";
import { log } from "../util/log.ts";
import { killAllGroups } from "../util/process-group.ts";
import { redact } from "../util/redact.ts";
import { behindStderr, flushStderr, writeStderr } from "../util/stderr.ts";
import { flushStdout, queueStdout, stdoutFailure } from "../util/stdout.ts";
import { version } from "../util/version.ts";
import type { AnyCommand } from "./command.ts";
import { commands } from "./commands.ts";
import { parseArgs } from "./parse-args.ts";
import { root } from "./root.ts";
import { isTerminal } from "./terminal.ts";

/** How long a reader of stderr may take nothing after a signal, in milliseconds. */
const patienceMs = 2500;

/** Runs the command line and gives the exit code; `exit` ends the process for those who cannot wait. Never rejects. */
export async function main(argv: readonly string[], exit: (code: number) => never): Promise<number> {
  const io: Io = { stdout: queueStdout, flush: flushStdout, stderr: writeStderr, behindStderr, isTerminal, exit };
  const code = await attempt(argv, io);
  // A reader of stderr that does not read is waited for as by any program, but not when a signal has asked for the end.
  await flushStderr(signalOf(code) ? patienceMs : Number.POSITIVE_INFINITY);
  return code;
}

async function attempt(argv: readonly string[], io: Io): Promise<number> {
  try {
    const code = await dispatch(argv, io);
    await flushStdout();
    return checkOutput(code);
  } catch (thrown) {
    return report(toAppError(thrown));
  } finally {
    killAllGroups();
  }
}

/** `code`, and success only if what was written also arrived; a reader that has gone away knows that itself. */
export function checkOutput(code: number): number {
  const failure = stdoutFailure();
  if (!failure) return code;
  const error = new AppError("output", `Could not write to stdout: ${failure.message}`);
  if (failure.code !== "EPIPE") report(error);
  return code || error.exitCode;
}

/** Prints an error once, without keys, and gives its exit code. */
function report(error: AppError): number {
  log().error(redact(describeError(error)));
  if (error.code === "internal") {
    const { cause } = error;
    log().error(`This is a bug in pi-ts ${version}.${process.env.PI_TS_DEBUG ? `\n${(cause as Error)?.stack}` : ""}`);
  }
  return error.exitCode;
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv;
  const load = commands.get(first ?? "");
  const command: AnyCommand = load ? await load() : root;
  const { flags, words, literal } = await parse(load ? rest : argv, command, io, load && first);
  if (flags.help) {
    const { renderHelp } = await import("./help.ts");
    io.stdout(renderHelp(command, load !== undefined));
    return 0;
  }
  if (flags.version) {
    io.stdout(`pi-ts ${version}\n`);
    return 0;
  }
  if (!load && !flags.print && !argv.includes("--") && words.length === 1 && commands.has(words[0] ?? "")) {
    const error = new AppError("usage", `The command ${words[0]} comes first, before any flag`, {
      hint: `Try: pi-ts ${words[0]}, or pi-ts -p ${words[0]} if that is the task.`,
    });
    return refuse(argv, command, error, io);
  }
  return command.run(flags, { io, env: process.env, cwd: workingDirectory(), words, literal });
}

async function parse(argv: readonly string[], command: AnyCommand, io: Io, name: string | undefined) {
  try {
    return parseArgs(argv, command.args, name);
  } catch (thrown) {
    return refuse(argv, command, toAppError(thrown), io);
  }
}

/** Rejects with `error`, told before in all the places where the verdict of a run is looked for. */
async function refuse(argv: readonly string[], command: AnyCommand, error: AppError, io: Io): Promise<never> {
  if (command.args.result !== undefined) {
    const { tellRefusal } = await import("./refusal.ts");
    await tellRefusal(argv, error, workingDirectory(), io);
  }
  throw error;
}

function workingDirectory(): string {
  let cwd: string;
  try {
    cwd = process.cwd();
  } catch (error) {
    throw new AppError("usage", "The working directory no longer exists", {
      hint: "Change to one that does.",
      cause: error,
    });
  }
  // What stands for bytes that are no text leads nowhere.
  if (cwd.includes("\ufffd") && !existsSync(cwd)) {
    throw new AppError("usage", `The working directory's path is not UTF-8: ${cwd}`, {
      hint: "Rename it, or change to another one.",
    });
  }
  return cwd;
}
