// Runs the compiled binary black-box, in a home and an environment of its own, with stdin, stdout and stderr as a shell would give them.
import { closeSync, createWriteStream, existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { openFifo } from "./open-fifo.ts";
import { type TmpDir, tmp } from "./tmp.ts";
import { type TextPattern, watchText } from "./wait-for.ts";

/**
 * `null`: /dev/null. `empty`: a pipe that is closed at once. `open`: a pipe that stays open and silent unless written to.
 * Text goes through a pipe that closes behind it.
 */
export type Stdin = "null" | "empty" | "open" | { readonly text: string | Uint8Array };

export interface CliOptions {
  /** Beside PATH, HOME, PI_TS_HOME, LANG and TERM; `undefined` takes one of these away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Defaults to `null`. */
  readonly stdin?: Stdin;
  /** Defaults to an empty folder that goes away with the process. */
  readonly cwd?: string;
  /** HOME; PI_TS_HOME is `.pi-ts` in it. Defaults to an empty folder that goes away with the process. */
  readonly home?: string;
  /** The most it may run, in milliseconds (20,000 by default); then it is killed and the test fails. */
  readonly timeout?: number;
  /** Sends `signal` once stdout or stderr matches, or the promise resolves. */
  readonly signalWhen?: { readonly when: TextPattern | Promise<unknown>; readonly signal: NodeJS.Signals };
}

export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
}

export interface CliProcess extends AsyncDisposable {
  readonly pid: number;
  /** All of it so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when the text printed so far matches; `both` is stdout, then stderr. */
  waitFor(pattern: TextPattern, options?: { stream?: "stdout" | "stderr" | "both"; timeoutMs?: number }): Promise<void>;
  /** Writes to a stdin that is `open`. */
  write(text: string): void;
  end(): void;
  kill(signal?: NodeJS.Signals): void;
  /** When it has ended and all its output is read. Rejects when `timeout` had to kill it. */
  readonly exited: Promise<CliResult>;
}

/** Where the compiled binary is; tests never build it. */
export function binaryPath(): string {
  const path = resolve(process.env.PI_TS_BINARY ?? `${import.meta.dir}/../../dist/pi-ts`);
  if (!existsSync(path))
    throw new Error(`no compiled binary at ${path}: run \`bun run build\` first, or set PI_TS_BINARY`);
  return path;
}

/** The environment of a child with this home: nothing of ours but the path. */
export function cleanEnv(home: string, extra: CliOptions["env"] = {}): Record<string, string> {
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: home, PI_TS_HOME: `${home}/.pi-ts`, LANG: "C.UTF-8", TERM: "xterm-256color", ...extra };
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** A home and a working directory, made where none are given. */
export function createPlace(options: Pick<CliOptions, "cwd" | "home">): { home: string; cwd: string; dir: TmpDir } {
  const dir = tmp();
  const make = (name: string) => {
    mkdirSync(dir.file(name));
    return dir.file(name);
  };
  return { home: options.home ?? make("home"), cwd: options.cwd ?? make("work"), dir };
}

export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  await using cli = startCli(args, options);
  return await cli.exited;
}

export function startCli(args: readonly string[], options: CliOptions = {}): CliProcess {
  const binary = binaryPath();
  const place = createPlace(options);
  const input = openStdin(options.stdin ?? "null", place.dir);
  const child = Bun.spawn([binary, ...args], {
    cwd: place.cwd,
    env: cleanEnv(place.home, options.env),
    stdin: input.fd ?? "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  input.started();
  let out = "";
  let err = "";
  const watches = {
    stdout: watchText("stdout", () => out),
    stderr: watchText("stderr", () => err),
    both: watchText("stdout and stderr", () => `${out}${err}`),
  };
  const seen = () => `\n--- stdout\n${out}\n--- stderr\n${err}`;

  async function read(name: "stdout" | "stderr"): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of child[name]) {
      const text = decoder.decode(bytes, { stream: true });
      if (name === "stdout") out += text;
      else err += text;
      watches[name].changed();
      watches.both.changed();
    }
    watches[name].closed();
  }

  async function finish(): Promise<CliResult> {
    const timeout = options.timeout ?? 20_000;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, timeout);
    const reading = Promise.all([read("stdout"), read("stderr")]);
    await child.exited;
    clearTimeout(timer);
    if (late) throw new Error(`pi-ts ${args.join(" ")} ran longer than ${timeout} ms${seen()}`);
    await reading;
    watches.both.closed();
    return { stdout: out, stderr: err, code: child.exitCode, signal: child.signalCode as string | null };
  }

  async function sendSignal({ when, signal }: NonNullable<CliOptions["signalWhen"]>): Promise<void> {
    await (when instanceof Promise ? when : watches.both.until(when, { timeoutMs: options.timeout ?? 20_000 }));
    child.kill(signal);
  }

  const finished = finish();
  const exited = options.signalWhen
    ? Promise.all([finished, sendSignal(options.signalWhen)]).then(([result]) => result)
    : finished;
  exited.catch(() => {});
  return {
    pid: child.pid,
    stdout: () => out,
    stderr: () => err,
    async waitFor(pattern, { stream = "both", timeoutMs = 10_000 } = {}) {
      await watches[stream].until(pattern, { timeoutMs });
    },
    write: input.write,
    end: input.end,
    kill: (signal = "SIGTERM") => child.kill(signal),
    exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      input.end();
      await child.exited;
      await place.dir[Symbol.asyncDispose]();
    },
  };
}

interface ChildInput {
  /** The read end for the child; none is /dev/null. */
  readonly fd?: number;
  /** The child has its copy. */
  started(): void;
  write(text: string): void;
  end(): void;
}

/** A real pipe; the runtime would give the child a socket. */
function openStdin(stdin: Stdin, dir: TmpDir): ChildInput {
  const silent = () => {
    throw new Error('stdin is not "open"');
  };
  if (stdin === "null") return { started() {}, write: silent, end() {} };
  const ends = openFifo(dir.file("stdin"));
  const writer = createWriteStream("", { fd: ends.writer });
  writer.on("error", () => {});
  return {
    fd: ends.reader,
    started() {
      closeSync(ends.reader);
      if (typeof stdin === "object") writer.end(stdin.text);
      else if (stdin === "empty") writer.end();
    },
    write: (text) => void writer.write(text),
    end: () => void writer.end(),
  };
}
