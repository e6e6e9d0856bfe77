// The one owner of the terminal: raw mode, the bytes that are typed and those that are shown, the window's size, stop and continue.
// Whatever way the process ends, the terminal is left as it was found.
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";

export interface TerminalEvents {
  /** What was typed, as it came. */
  input(text: string): void;
  /** Nothing more can be typed. */
  end(): void;
  resize(): void;
  /** The process is about to be stopped; last chance to leave a clean line. */
  stop(): void;
  /** It goes on, on a screen that others have written to. */
  continue(): void;
}

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  /** Writes at once and in order; a terminal that is gone is no reason to fail. */
  write(text: string): void;
  /** Hands out what was typed and has not come yet, since the terminal kept the process from reading. */
  takeTyped(): void;
  /** Stops the process and its group as Ctrl-Z does for programs that do not read keys. */
  stop(): void;
  /** Gives the terminal back as it was. */
  close(): void;
}

const bracketedPaste = { on: "\x1b[?2004h", off: "\x1b[?2004l" } as const;

/** Takes the terminal over until `close`. `plain` terminals get no escape sequences from here. */
export function openTerminal(events: TerminalEvents, plain: boolean): Terminal {
  const { stdin, stdout } = process;
  const decoder = new TextDecoder();
  let raw = false;

  function enter(): void {
    if (raw) return;
    raw = true;
    stdin.setRawMode(true);
    if (!plain) writeAll(bracketedPaste.on);
  }

  function leave(): void {
    if (!raw) return;
    raw = false;
    if (!plain) writeAll(bracketedPaste.off);
    stdin.setRawMode(false);
  }

  function stop(): void {
    // Windows has no job control.
    if (process.platform === "win32") return;
    events.stop();
    leave();
    process.off("SIGTSTP", stop);
    // The whole group, since a program that started this one and waits in the same job must stop with it.
    process.kill(0, "SIGTSTP");
    // Where job control is missing the signal is ignored, and no SIGCONT will come.
    setTimeout(resume, 50);
  }

  function resume(): void {
    if (raw) return;
    process.on("SIGTSTP", stop);
    enter();
    events.continue();
  }

  /** After a SIGSTOP, which nobody can see coming, the shell has set its own modes behind the runtime's back. */
  function onContinue(): void {
    if (raw) {
      raw = false;
      stdin.setRawMode(false);
      process.off("SIGTSTP", stop);
    }
    resume();
  }

  const onData = (bytes: Uint8Array) => events.input(decoder.decode(bytes, { stream: true }));
  const onEnd = () => events.end();
  const onResize = () => events.resize();
  enter();
  process.on("exit", leave);
  process.on("SIGTSTP", stop);
  process.on("SIGCONT", onContinue);
  stdout.on("resize", onResize);
  stdin.on("data", onData);
  stdin.on("end", onEnd);
  // A question before this one has paused it.
  stdin.resume();

  return {
    get columns() {
      return Math.max(8, stdout.columns || 80);
    },
    get rows() {
      return Math.max(2, stdout.rows || 24);
    },
    write: writeAll,
    takeTyped: () => readWaiting(onData),
    stop,
    close() {
      leave();
      process.off("exit", leave);
      process.off("SIGTSTP", stop);
      process.off("SIGCONT", onContinue);
      stdout.off("resize", onResize);
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      stdin.pause();
    },
  };
}

/** Synchronous, so that nothing is lost at the process's end and what is shown is never behind what is known. */
function writeAll(text: string): void {
  const bytes = Buffer.from(text);
  for (let offset = 0, tries = 0; offset < bytes.length && tries < 1000; ) {
    try {
      offset += writeSync(1, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      tries++;
      Bun.sleepSync(5);
    }
  }
}

/** All that can be read from the terminal without waiting. */
function readWaiting(onData: (bytes: Uint8Array) => void): void {
  try {
    const terminal = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = new Uint8Array(4096);
      for (let length = readSync(terminal, bytes); length > 0; length = readSync(terminal, bytes))
        onData(bytes.subarray(0, length));
    } finally {
      closeSync(terminal);
    }
  } catch {
    // Nothing is left, or this is no terminal of ours to read.
  }
}
