// Runs a command with bash: no terminal, no input, in a process group of its own. Returns when the shell ends, the time is up or the
// run is aborted, whatever still holds the output.
import { closeSync, statSync } from "node:fs";
import { constants } from "node:os";
import * as z from "zod/mini";
import { now } from "../util/clock.ts";
import { AppError, abortedBy } from "../util/error.ts";
import { findBash } from "../util/find-bash.ts";
import { createPipe, type Hold, type Reading, readPipe, readStream, type Take } from "../util/pipe.ts";
import { type Exit, endGroup, followEscapees, type GroupChild, spawnGroup } from "../util/process-group.ts";
import description from "./bash.md" with { type: "text" };
import { createSpill, type Spill, type SpilledFile, spillLimit } from "./bash-spill.ts";
import { type BoundedOutput, createBoundedOutput } from "./bounded-output.ts";
import { defineTool } from "./define-tool.ts";
import { type ToolContext, type ToolOutput, toolError } from "./tool.ts";

const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 600_000;
const timeoutText = `Time limit in milliseconds (default ${defaultTimeoutMs}, at most ${maxTimeoutMs})`;
/** Between the request to end and the kill. */
const killGraceMs = 300;
/** How long the output must be silent after the shell's end, and how often it may go on. */
const drainMs = 100;
const maxDrains = 3;
const heldNote = "[a background process still holds the output; what it prints from now on is not shown]";
const updateMs = 100;
const updateCharacters = 4000;

export const bash = defineTool({
  name: "bash",
  access: "execute",
  description,
  input: z.strictObject({
    command: z.string().check(z.describe("The command line, as for `bash -c`")),
    // Models that know other agents' bash say what a command is for, and are not to fail for it.
    description: z.optional(z.string().check(z.describe("What it does, in a few words"))),
    timeout_ms: z.optional(z.int().check(z.minimum(1), z.maximum(maxTimeoutMs), z.describe(timeoutText))),
  }),
  summarize: ({ command }) => command,
  run: async ({ command, timeout_ms }, context) => {
    const started = now();
    const { maxOutput } = context;
    const spill = createSpill(maxOutput);
    const output = createBoundedOutput(maxOutput, spill);
    const updates = throttleUpdates(output, context.onUpdate);
    const timeoutMs = timeout_ms ?? defaultTimeoutMs;
    const { ending, held } = await runShell(command, context, timeoutMs, (bytes) => {
      output.write(bytes);
      updates.changed();
    });
    updates.stop();
    output.end();
    const wallMs = now() - started;
    const { signal } = context;
    return toOutput({ ending, held, timeoutMs, signal, output, spill, maxOutput, wallMs });
  },
});

export type Ending = Exit | "timeout" | "aborted";

export interface ShellRun {
  readonly ending: Ending;
  /** A process that was left behind has the output open still. */
  readonly held: boolean;
}

/** Runs a command to its end, its time limit (undefined: none) or the abort; `take` gets what it prints, and `hold` can make it wait. */
export async function runShell(
  command: string,
  context: ShellContext,
  timeoutMs: number | undefined,
  take: Take,
  hold?: Hold,
): Promise<ShellRun> {
  let received = 0;
  let isOver = false;
  const count = (bytes: Uint8Array) => {
    received += bytes.length;
    take(bytes);
  };
  const shell = await startShell(command, context, count, hold && (() => (isOver ? undefined : hold())));
  const ending = await waitForEnding(shell.child.exited, timeoutMs, context.signal);
  isOver = true;
  if (typeof ending === "string") await endGroup(shell.child.pid, killGraceMs);
  const held = await stillHeld(shell.reading, () => received);
  shell.reading.discard();
  return { ending, held };
}

export type ShellContext = Pick<ToolContext, "cwd" | "env" | "sandbox" | "signal">;

interface Shell {
  readonly child: GroupChild;
  readonly reading: Reading;
}

/** Stdout and stderr share one pipe, so their order is that of the writes. */
async function startShell(command: string, context: ShellContext, take: Take, hold: Hold | undefined): Promise<Shell> {
  const { cwd, env, sandbox } = context;
  const [pipe] = await Promise.all([createPipe(), followEscapees()]);
  const words = [findBash(env), "-c", "--", pipe ? command : `exec 2>&1\n${command}`];
  try {
    const child = spawnGroup(sandbox?.(words) ?? words, { cwd, env, output: pipe?.writeFd ?? "pipe" });
    if (!pipe) return { child, reading: readStream(child.stdout ?? new ReadableStream(), take, hold) };
    closeSync(pipe.writeFd);
    return { child, reading: readPipe(pipe.readFd, take, hold) };
  } catch (error) {
    if (pipe) for (const fd of [pipe.readFd, pipe.writeFd]) closeSync(fd);
    throw startFailure(error, command, cwd);
  }
}

/** What helps where the system refuses a process, by its code. */
const startHints: Readonly<Record<string, string>> = {
  EAGAIN:
    "There are as many processes as may be (ulimit -u, or the container's limit of pids): raise it, or run fewer at once.",
  EMFILE: "There are as many open files as may be (ulimit -n): raise it.",
  ENOMEM: "There is no memory left for another process: give it more, or run fewer at once.",
};

function startFailure(error: unknown, command: string, cwd: string): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "E2BIG")
    return toolError(`the command is too long (${command.length} characters); write it to a file and run that`);
  if (command.includes("\0")) return toolError("a command cannot contain a NUL character");
  if (!isDirectory(cwd)) {
    const hint = "Start pi-ts again in a folder that exists.";
    return new AppError("tool_fatal", `The working directory is gone: ${cwd}`, { hint, cause: error });
  }
  const hint = startHints[code ?? ""] ?? "Check that bash is installed and in the PATH.";
  return new AppError("tool_fatal", `bash cannot be started: ${message}`, { hint, cause: error });
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

async function waitForEnding(
  exited: Promise<Exit>,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  const abort = () => resolve("aborted");
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => resolve("timeout"), timeoutMs);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  exited.then(resolve);
  const ending = await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", abort);
  return ending;
}

/** Gives what is left in the pipe a moment; true when a process still has it open then. */
async function stillHeld(reading: Reading, received: () => number): Promise<boolean> {
  const ended = reading.ended.then(() => true);
  for (let drain = 0; drain < maxDrains; drain++) {
    const before = received();
    reading.hurry();
    if (await Promise.race([ended, Bun.sleep(drainMs).then(() => false)])) return false;
    if (received() === before) break;
  }
  return true;
}

interface Updates {
  changed(): void;
  stop(): void;
}

/** The start, the first output at once, then the latest end of it about ten times a second. */
function throttleUpdates(output: BoundedOutput, onUpdate: ToolContext["onUpdate"]): Updates {
  onUpdate({ content: [] });
  let last = -Infinity;
  let timer: Timer | undefined;
  let sent = "";
  function send(): void {
    timer = undefined;
    last = now();
    const text = output.tail(updateCharacters);
    if (text !== sent) onUpdate({ content: [{ type: "text", text }], details: {} });
    sent = text;
  }
  return {
    changed() {
      if (timer) return;
      const wait = last + updateMs - now();
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
  readonly signal: AbortSignal;
  readonly output: BoundedOutput;
  readonly spill: Spill;
  readonly maxOutput: number;
  readonly wallMs: number;
}

function toOutput(finished: Finished): ToolOutput {
  const { ending, held, output, spill, maxOutput, wallMs } = finished;
  const exit = typeof ending === "string" ? undefined : ending;
  const before = typeof ending === "string" ? `Error: ${endedEarly(ending, finished)}\n` : "";
  const notes = [...(held ? [heldNote] : []), ...(exit ? [`[${describeExit(exit)}]`] : [])].join("\n");
  const { text, ...cut } = fit(output, spill, maxOutput);
  const lineBreak = notes !== "" && text !== "" && !text.endsWith("\n") ? "\n" : "";
  const result = `${before}${text}${lineBreak}${notes}`;
  return {
    text: result,
    ...(result.length > maxOutput ? { bounded: true } : {}),
    isError: exit?.code !== 0,
    structuredContent: {
      output: text,
      ...cut,
      exit_code: exit?.code ?? null,
      ...(exit?.signal === undefined ? {} : { signal: exit.signal }),
      wall_time_seconds: Math.round(wallMs) / 1000,
    },
    // One that was stopped has them too, as clients know it.
    ...(cut.truncated ? { details: cut } : ending === "aborted" ? { details: {} } : {}),
  };
}

function endedEarly(ending: "timeout" | "aborted", { timeoutMs, signal }: Finished): string {
  return ending === "timeout" ? `timed out after ${timeoutMs} ms; the process group was killed` : abortedBy(signal);
}

function describeExit({ code, signal }: Exit): string {
  if (signal !== undefined) return `killed by ${signal}: exit code ${code}`;
  const [name] = Object.entries(constants.signals).find(([, number]) => number + 128 === code) ?? [];
  return `exit code ${code}${name === undefined ? "" : ` = 128 + ${name}`}`;
}

export interface Fitted {
  readonly text: string;
  readonly truncated: boolean;
  readonly fullOutputPath?: string;
}

/** The output, or its beginning and its end, `room` characters together, with what is missing counted between them. */
export function fit(output: BoundedOutput, spill: Spill, room: number): Fitted {
  const length = output.length();
  if (length <= room) {
    spill.drop();
    return { text: output.head(length), truncated: false };
  }
  const half = room / 2;
  const [head, tail] = [output.head(Math.ceil(half)), output.tail(Math.floor(half))];
  const file = spill.keep();
  const count = `truncated, ${length - head.length - tail.length} more chars`;
  const marker = `\n... <${file ? `${count}; ${describeFile(file)}` : count}> ...\n`;
  return { text: `${head}${marker}${tail}`, truncated: true, ...(file ? { fullOutputPath: file.path } : {}) };
}

function describeFile({ path, cut }: SpilledFile): string {
  return `${cut ? `the first ${spillLimit / 1_000_000} MB of the output` : "the whole output"}: ${path}`;
}
