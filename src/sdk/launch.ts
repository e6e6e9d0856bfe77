// An agent's process: found, started in a process group of its own, and ended with it.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { clientMark } from "../util/client-mark.ts";
import { listProcesses } from "../util/processes.ts";
import { SpawnError } from "./errors.ts";
import type { LaunchOptions } from "./options.ts";

/** How a process has ended. */
export interface Ended {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The end of what it wrote to stderr. */
  readonly stderr: string;
}

export interface AgentProcess {
  readonly pid: number;
  write(text: string): void;
  /** Nothing more will be written. */
  endInput(): void;
  /** Whether stdout is read. While it is not, the process waits as soon as what the system keeps for it is full. */
  setReading(isReading: boolean): void;
  /** When it has ended, all that it wrote is handed over. */
  readonly ended: Promise<Ended>;
  /** Ends it and its group: the end of its input, and after a moment each, SIGTERM and SIGKILL. Resolves when it has ended. */
  close(): Promise<Ended>;
}

/** How long a process may take to end by itself, and after SIGTERM, in milliseconds. */
const patience = 500;
const grace = 2000;
const longestTail = 8192;
const isWindows = process.platform === "win32";

/** Rejects with `SpawnError`. `onOutput` gets stdout as it comes. */
export async function launch(
  options: LaunchOptions,
  flags: readonly string[],
  onOutput: (bytes: Uint8Array) => void,
): Promise<AgentProcess> {
  const { command = "pi-ts", args = [], cwd, env, provider, model } = options;
  const [program = "", ...first] = typeof command === "string" ? [command] : command;
  const words = [
    ...first,
    ...flags,
    ...(provider === undefined ? [] : ["--provider", provider]),
    ...(model === undefined ? [] : ["--model", model]),
    ...args,
  ];
  try {
    const child = spawn(program, words, {
      cwd,
      env: environment(env),
      stdio: ["pipe", "pipe", "pipe"],
      // A group of its own, so that all of it can be ended together. Windows has none, and would open a window.
      detached: !isWindows,
      windowsHide: true,
    });
    if (child.pid !== undefined) return watch(child, child.pid, onOutput);
    throw await new Promise((resolve) => child.once("error", resolve));
  } catch (error) {
    const missing = cwd !== undefined && !existsSync(cwd);
    throw new SpawnError(
      [program, ...words],
      missing ? `there is no folder ${cwd}` : reasonOf(error as SystemError),
      error,
    );
  }
}

type SystemError = Error & { readonly code?: string };

function reasonOf({ code, message }: SystemError): string {
  if (code === "ENOENT") return "there is no such program";
  return code === "EACCES" ? "it may not be run" : message;
}

function environment(extra: LaunchOptions["env"]): Record<string, string> {
  const all = Object.entries({ ...process.env, ...extra, [clientMark]: String(process.pid) });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function watch(
  child: ChildProcessWithoutNullStreams,
  pid: number,
  onOutput: (bytes: Uint8Array) => void,
): AgentProcess {
  const decoder = new TextDecoder();
  let stderr = "";
  let hasExited = false;
  let isDrained = false;
  /** Grows with everything that is read. */
  let reads = 0;

  child.stdout.on("data", (bytes: Buffer) => {
    reads++;
    if (!isDrained) onOutput(bytes);
  });
  child.stderr.on("data", (bytes: Buffer) => {
    reads++;
    stderr = (stderr + decoder.decode(bytes, { stream: true })).slice(-longestTail);
  });
  // Whoever cannot be written to or heard any more is of no use, and has ended or is about to.
  child.stdin.on("error", () => void close());
  child.stdout.on("error", () => void close());
  child.stdout.on("end", () => void close());
  child.stderr.on("error", () => {});
  child.on("error", () => {});
  const terminate = () => signalGroup("SIGTERM");
  endWithProgram(terminate);

  const ended = new Promise<Ended>((resolve) => {
    child.once("exit", (exitCode, signal) => {
      hasExited = true;
      // What it has started may hold its output open for long, so the end of that is not waited for.
      child.stdout.resume();
      drain().then(() => {
        isDrained = true;
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
        resolve({ exitCode, signal, stderr });
        // What it has left of its group ends too.
        void close();
      });
    });
  });

  /** What was written before the exit lies ready, so it has been read when turns of the event loop bring nothing more. */
  async function drain(): Promise<void> {
    for (let quiet = 0; quiet < 3 && !(child.stdout.readableEnded && child.stderr.readableEnded); ) {
      const before = reads;
      await new Promise((resolve) => setImmediate(resolve));
      quiet = reads === before ? quiet + 1 : 0;
    }
  }

  let closing: Promise<Ended> | undefined;

  function close(): Promise<Ended> {
    closing ??= end();
    return closing;
  }

  async function end(): Promise<Ended> {
    child.stdin.end();
    child.stdout.resume();
    if (!(await isGone(patience))) {
      terminate();
      if (!(await isGone(grace))) signalGroup("SIGKILL");
    }
    const result = await ended;
    live.delete(terminate);
    return result;
  }

  /** Whether nothing of the group is left after at most so many milliseconds. */
  async function isGone(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    await within(ended, ms);
    while (!hasExited || (hasGroup() && isAnyAlive(pid))) {
      if (performance.now() >= deadline) return false;
      await within(new Promise(() => {}), 20);
    }
    return true;
  }

  /** A number is given to no new process while a group has it; one that is in use again says that the group is gone. */
  function hasGroup(): boolean {
    return isWindows ? !hasExited : send(-pid, 0) && !(hasExited && send(pid, 0));
  }

  function signalGroup(signal: "SIGTERM" | "SIGKILL"): void {
    if (!hasGroup()) return;
    if (isWindows) spawnSync("taskkill", ["/PID", `${pid}`, "/T", "/F"], { stdio: "ignore", windowsHide: true });
    else send(-pid, signal);
  }

  return {
    pid,
    ended,
    close,
    write: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    setReading(isReading) {
      if (isReading || hasExited || closing) child.stdout.resume();
      else child.stdout.pause();
    },
  };
}

function within(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** How to end each group that may still have members. */
const live = new Set<() => void>();
let isWatching = false;

/** A program that ends takes its agents along. */
function endWithProgram(terminate: () => void): void {
  live.add(terminate);
  if (isWatching) return;
  isWatching = true;
  process.on("exit", () => {
    for (const end of live) end();
  });
}

/** Processes that have ended stay members until their parent takes note, which can be never in a container. */
function isAnyAlive(group: number): boolean {
  return process.platform !== "linux" || listProcesses().some((member) => member.alive && member.group === group);
}

/** False when there is no such process or group; one that may not be signalled is there all the same. */
function send(target: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    return (error as SystemError).code === "EPERM";
  }
}
