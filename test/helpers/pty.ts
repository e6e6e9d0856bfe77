// Drives the compiled binary, or a shell around it, in a real pseudo-terminal.
import { binaryPath, type CliOptions, cleanEnv, createPlace } from "./run-cli.ts";
import { renderScreen } from "./screen.ts";
import { type TextPattern, watchText } from "./wait-for.ts";

export interface PtyOptions extends Pick<CliOptions, "env" | "cwd" | "home"> {
  /** 80 by default. */
  readonly cols?: number;
  /** 24 by default. */
  readonly rows?: number;
  /** The longest any wait may take, in milliseconds: 10,000 by default. */
  readonly timeout?: number;
}

export interface TerminalModes {
  /** Lines are edited by the kernel; false in raw mode. */
  readonly canonical: boolean;
  readonly echo: boolean;
  /** Ctrl-C makes a signal. */
  readonly signals: boolean;
}

export interface Pty extends AsyncDisposable {
  readonly pid: number;
  /** Types: `\r` is Enter, `\x03` Ctrl-C, `\x04` Ctrl-D. */
  write(text: string): void;
  /** Waits for a match in what was printed since the last mark, without its escape sequences, and sets the mark behind it. */
  waitFor(pattern: TextPattern): Promise<void>;
  /** Sets the mark behind all that was printed so far. */
  mark(): void;
  /** Everything printed, as it came. */
  readonly output: string;
  /** Everything printed, without its escape sequences. */
  readonly text: string;
  /** The rows a person sees now. */
  screen(): string[];
  resize(cols: number, rows: number): void;
  /** How the terminal is set now; it can be asked after the program has ended too. */
  modes(): TerminalModes;
  kill(signal?: NodeJS.Signals): void;
  /** The exit status as a shell gives it (128 + n for a signal), once all its output is here. Rejects at the deadline. */
  exited(): Promise<number>;
}

/** A shell in the terminal, for what only a shell can show: the state it finds when the program is gone, job control, `$?`. */
export interface ShellPty extends Pty {
  /** Starts a command line; `{bin}` in it stands for the binary. Waits for nothing. */
  type(line: string): void;
  /** Waits until the shell prompts again and gives the exit status of the last command. */
  prompt(): Promise<number>;
  /** The words of `stty -a`, such as `icanon` or `-echo`. */
  stty(): Promise<ReadonlySet<string>>;
}

/** The binary itself in a terminal. */
export function startPty(args: readonly string[], options: PtyOptions = {}): Promise<Pty> {
  return openPty([binaryPath(), ...args], options);
}

export async function startShellPty(options: PtyOptions = {}): Promise<ShellPty> {
  const binary = binaryPath();
  // The prompt is made of an expansion, so that the echo of what is typed can never look like it. A shell that is not interactive drops PS1.
  const shell = ["env", "PS1=[$?:ready] ", "bash", "--noprofile", "--norc", "--noediting", "-i"];
  const pty = await openPty(shell, options);
  const prompt = async () => {
    let status = 0;
    await pty.waitFor((text) => {
      const match = /\[(\d+):ready\] $/.exec(text);
      if (match) status = Number(match[1]);
      return match !== null;
    });
    return status;
  };
  await prompt();
  return Object.assign(pty, {
    // A line feed ends a line in raw mode too.
    type: (line: string) => pty.write(`${line.replaceAll("{bin}", binary)}\n`),
    prompt,
    async stty() {
      const before = pty.text.length;
      pty.write("stty -a\n");
      await prompt();
      return new Set(pty.text.slice(before).split(/[\s;]+/));
    },
  });
}

/**
 * Starts the program and stays behind it as the terminal's session leader: when that one ends, the kernel resets the terminal.
 * Tells the program's pid before it and its exit status after all of its output, as sequences that no terminal shows.
 */
const launcher = String.raw`
trap : INT QUIT HUP TERM
exec 3>&2 2>/dev/null
(exec 2>&3 3>&-; printf '\033]777;pid=%d\007' $BASHPID; exec "$@")
printf '\033]777;exit=%d\007' $?
exec sleep 86400`;
const report = /\x1b\]777;(pid|exit)=(\d+)\x07/;

async function openPty(command: readonly string[], options: PtyOptions): Promise<Pty> {
  const place = createPlace(options);
  const timeoutMs = options.timeout ?? 10_000;
  let { cols = 80, rows = 24 } = options;
  let output = "";
  let mark = 0;
  const text = () => Bun.stripANSI(output);
  const watch = watchText("the terminal", text);
  const reports = { pid: Promise.withResolvers<number>(), exit: Promise.withResolvers<number>() };
  const decoder = new TextDecoder();
  const leader = Bun.spawn(["bash", "-c", launcher, "pty", ...command], {
    cwd: place.cwd,
    env: cleanEnv(place.home, options.env),
    // Given in place: only such a terminal becomes the controlling one.
    terminal: {
      cols,
      rows,
      data(_terminal, bytes) {
        output += decoder.decode(bytes, { stream: true });
        let ended = false;
        for (let match = report.exec(output); match; match = report.exec(output)) {
          output = output.replace(match[0], "");
          reports[match[1] as "pid" | "exit"].resolve(Number(match[2]));
          ended = match[1] === "exit";
        }
        watch.changed();
        if (ended) watch.closed();
      },
    },
  });
  const terminal = leader.terminal as Bun.Terminal;

  async function inTime<T>(promise: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const fail = () => late.reject(new Error(`still waiting after ${timeoutMs} ms; the terminal holds:\n${text()}`));
    const timer = setTimeout(fail, timeoutMs);
    return await Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
  }
  const pid = await inTime(reports.pid.promise);

  return {
    pid,
    write: (input) => void terminal.write(input),
    async waitFor(pattern) {
      mark = await watch.until(pattern, { from: mark, timeoutMs });
    },
    mark() {
      mark = text().length;
    },
    get output() {
      return output;
    },
    get text() {
      return text();
    },
    screen: () => renderScreen(output, cols, rows),
    resize(newCols, newRows) {
      [cols, rows] = [newCols, newRows];
      terminal.resize(cols, rows);
    },
    modes() {
      const flags = terminal.localFlags;
      const [canonical, signals] = process.platform === "darwin" ? [0x100, 0x80] : [0x2, 0x1];
      return { canonical: (flags & canonical) !== 0, echo: (flags & 0x8) !== 0, signals: (flags & signals) !== 0 };
    },
    kill: (signal = "SIGTERM") => void process.kill(pid, signal),
    exited: () => inTime(reports.exit.promise),
    async [Symbol.asyncDispose]() {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      leader.kill("SIGKILL");
      await leader.exited;
      terminal.close();
      await place.dir[Symbol.asyncDispose]();
    },
  };
}
