// What a mode may use of the process. Made once, in main; tests and demos can bring their own.

export interface Io {
  /** Writes to stdout, in order. */
  stdout(text: string): void;
  /** Resolves when everything written to stdout has left the process. */
  flush(): Promise<void>;
  /** Writes to stderr at once, as far as its reader keeps up. */
  stderr(text: string): void;
  /** Resolves when what is written to stdout now stands behind what was written to stderr before, where both go to one pipe. */
  behindStderr(): Promise<void>;
  /** Whether file descriptor 0, 1 or 2 is a terminal. */
  isTerminal(fd: 0 | 1 | 2): boolean;
  /** Ends the process now; for the second signal, when waiting is over. */
  exit(code: number): never;
}
