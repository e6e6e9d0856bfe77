// Runs a command with bash: no terminal, no input, in a process group of its own. Returns when the shell ends, the time is up or the
// run is aborted, whatever still holds the output.
import { closeSync, statSync } from "node:fs";
import * as z from "zod/mini";
import { AppError } from "../util/error.ts";
import { createPipe } from "../util/pipe.ts";
import { type Exit, endGroup, type GroupChild, spawnGroup } from "../util/process-group.ts";
import { headOf } from "../util/truncate.ts";
import description from "./bash.md" with { type: "text" };
import { type BoundedOutput, createBoundedOutput } from "./bounded-output.ts";
import { defineTool } from "./define-tool.ts";
import { type ToolContext, type ToolOutput, toolError } from "./tool.ts";

const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 600_000;
const timeoutText = `Time limit in milliseconds (default ${defaultTimeoutMs}, at most ${maxTimeoutMs})`;
/** Between the request to end and the kill. */
const killGraceMs = 300;
/** How long the output must be silent after the shell's end, and how often it may go on. */
const drainMs = 50;
const maxDrains = 5;
const updateMs = 100;
const updateCharacters = 4000;

/** Whatever would wait for a person fails or passes by itself instead. */
const quietEnv = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  EDITOR: "false",
  VISUAL: "false",
  PAGER: "cat",
  GIT_PAGER: "cat",
  PI_TS: "1",
  AI_AGENT: "pi-ts",
};

export const bash = defineTool({
  name: "bash",
  access: "execute",
  description,
  input: z.strictObject({
    command: z.string().check(z.describe("The command line, as for `bash -c`")),
    timeout_ms: z.optional(z.int().check(z.minimum(1), z.maximum(maxTimeoutMs), z.describe(timeoutText))),
  }),
  summarize: ({ command }) => command,
  run: async ({ command, timeout_ms }, context) => {
    const started = performance.now();
    const shell = await startShell(command, context);
    const output = createBoundedOutput(context.maxOutput, updateCharacters);
    const updates = throttleUpdates(output, context.onUpdate);
    const stream = readAll(shell, output, updates.changed);
    const timeoutMs = timeout_ms ?? defaultTimeoutMs;
    const ending = await waitForEnding(shell.child.exited, timeoutMs, context.signal);
    if (typeof ending === "string") await endGroup(shell.child.pid, killGraceMs);
    const held = await stillHeld(stream, output);
    updates.stop();
    stream.discard();
    return toOutput({
      ending,
      held,
      timeoutMs,
      output,
      maxOutput: context.maxOutput,
      wallMs: performance.now() - started,
    });
  },
});

type Ending = Exit | "timeout" | "aborted";

interface Shell {
  readonly child: GroupChild;
  readonly stream: ReadableStream<Uint8Array>;
  /** Frees what the stream reads from. */
  readonly close: () => void;
}

/** Stdout and stderr share one pipe, so their order is that of the writes. */
async function startShell(command: string, { cwd, env }: ToolContext): Promise<Shell> {
  const pipe = await createPipe();
  const script = pipe ? command : `exec 2>&1\n${command}`;
  try {
    const options = { cwd, env: { ...env, ...quietEnv }, output: pipe?.writeFd ?? "pipe" } as const;
    const child = spawnGroup(["bash", "-c", "--", script], options);
    if (pipe) {
      closeSync(pipe.writeFd);
      return { child, stream: Bun.file(pipe.readFd).stream(), close: () => closeSync(pipe.readFd) };
    }
    return { child, stream: child.stdout ?? new ReadableStream(), close: () => {} };
  } catch (error) {
    if (pipe) for (const fd of [pipe.readFd, pipe.writeFd]) closeSync(fd);
    throw startFailure(error, command, cwd);
  }
}

function startFailure(error: unknown, command: string, cwd: string): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "E2BIG")
    return toolError(`the command is too long (${command.length} characters); write it to a file and run that`);
  if (command.includes("\0")) return toolError("a command cannot contain a NUL character");
  if (!isDirectory(cwd)) {
    const hint = "Start pi-ts again in a folder that exists.";
    return new AppError("tool_fatal", `The working directory is gone: ${cwd}`, { hint, cause: error });
  }
  const hint = "Check that bash is installed and in the PATH.";
  return new AppError("tool_fatal", `bash cannot be started: ${message}`, { hint, cause: error });
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

interface Reading {
  /** Resolves when nobody holds the pipe any more. */
  readonly ended: Promise<void>;
  /** From now on what comes is read and thrown away: a process that goes on in the background must not fail for want of a reader. */
  discard(): void;
}

function readAll(shell: Shell, output: BoundedOutput, changed: () => void): Reading {
  let discarding = false;
  async function read(): Promise<void> {
    const reader = shell.stream.getReader();
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        if (discarding) continue;
        const before = output.length();
        output.write(next.value);
        if (output.length() > before) changed();
      }
    } finally {
      shell.close();
    }
  }
  return {
    // What cannot be read any more has ended too.
    ended: read().catch(() => {}),
    discard() {
      discarding = true;
      output.end();
    },
  };
}

async function waitForEnding(exited: Promise<Exit>, timeoutMs: number, signal: AbortSignal): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  const abort = () => resolve("aborted");
  const timer = setTimeout(() => resolve("timeout"), timeoutMs);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  exited.then(resolve);
  const ending = await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", abort);
  return ending;
}

/** Gives what is left in the pipe a moment; true when a process still has it open then. */
async function stillHeld(stream: Reading, output: BoundedOutput): Promise<boolean> {
  const ended = stream.ended.then(() => true);
  for (let drain = 0; drain < maxDrains; drain++) {
    const before = output.length();
    if (await Promise.race([ended, Bun.sleep(drainMs).then(() => false)])) return false;
    if (output.length() === before) break;
  }
  return true;
}

interface Updates {
  changed(): void;
  stop(): void;
}

/** The first output at once, then the latest end of it about ten times a second. */
function throttleUpdates(output: BoundedOutput, onUpdate: ToolContext["onUpdate"]): Updates {
  let last = -Infinity;
  let timer: Timer | undefined;
  function send(): void {
    timer = undefined;
    last = performance.now();
    onUpdate({ content: [{ type: "text", text: output.tail() }] });
  }
  return {
    changed() {
      if (timer) return;
      const wait = last + updateMs - performance.now();
      if (wait <= 0) send();
      else timer = setTimeout(send, wait);
    },
    stop: () => clearTimeout(timer),
  };
}

interface Finished {
  readonly ending: Ending;
  readonly held: boolean;
  readonly timeoutMs: number;
  readonly output: BoundedOutput;
  readonly maxOutput: number;
  readonly wallMs: number;
}

function toOutput({ ending, held, timeoutMs, output, maxOutput, wallMs }: Finished): ToolOutput {
  const exitCode = typeof ending === "string" ? null : ending.code;
  const note = held
    ? "note: a background process still holds the output; what it prints from now on is not shown\n"
    : "";
  const before = `${firstLine(ending, timeoutMs)}\n${note}`;
  const { kept, ending: after } = fit(output, maxOutput - before.length);
  return {
    text: `${before}${kept}${after}`,
    isError: exitCode !== 0,
    structuredContent: {
      output: kept,
      truncated: after !== "",
      exit_code: exitCode,
      wall_time_seconds: Math.round(wallMs) / 1000,
    },
  };
}

function firstLine(ending: Ending, timeoutMs: number): string {
  if (ending === "timeout") return `Error: timed out after ${timeoutMs} ms; the process group was killed`;
  if (ending === "aborted") return "Error: aborted by the user";
  return `exit code: ${ending.code}${ending.signal === undefined ? "" : ` (killed by ${ending.signal})`}`;
}

/** As much of the output as fits into `room` with the words that say how much is missing; the executor then has nothing to cut. */
function fit(output: BoundedOutput, room: number): { kept: string; ending: string } {
  const length = output.length();
  if (length <= room) return { kept: output.head(), ending: "" };
  const reserve = `\n... <truncated, ${length} more chars>`.length;
  const kept = headOf(output.head(), Math.max(0, room - reserve));
  return { kept, ending: `\n... <truncated, ${length - kept.length} more chars>` };
}
