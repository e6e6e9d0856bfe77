// How an agent is started, and how long a call of it may take.
import type { ProtocolError } from "./errors.ts";

/** 256 MiB. */
export const defaultMaxLineBytes = 256 * 1024 * 1024;

/** How the program is found, and in what surroundings it runs. */
export interface LaunchOptions {
  /** The program, or the beginning of a command line such as `["ssh", "host", "pi-ts"]`; `pi-ts` by default. Its flags are added. */
  readonly command?: string | readonly string[] | undefined;
  /** Further flags, behind those that the SDK gives. */
  readonly args?: readonly string[] | undefined;
  /** The working directory, by default that of this process. */
  readonly cwd?: string | undefined;
  /** Added to the environment of this process; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** `--provider` */
  readonly provider?: string | undefined;
  /** `--model`: an id, a part of one, `provider/id`, `:level` behind it. */
  readonly model?: string | undefined;
  /** Check each record against its schema; one that does not fit is a `ProtocolError`. Costs several times the reading itself. */
  readonly validate?: boolean | undefined;
  /** The longest line of stdout in bytes, 256 MiB by default; a longer one is a `ProtocolError`. */
  readonly maxLineBytes?: number | undefined;
}

/** How `AgentClient.start` starts an agent, and what it allows it. */
export interface StartOptions extends LaunchOptions {
  /**
   * Milliseconds until a command that was not answered fails with `TimeoutError`; none by default, as with `Infinity`. It does not count for commands that are
   * answered when their work is done (`bash`, `compact`, `abort`): give those a `timeout` of their own.
   */
  readonly timeout?: number | undefined;
  /**
   * Bytes of events that a run keeps for whoever iterates it, 1 MiB by default. With more, the agent's stdout is not read until some are
   * taken, so that the agent waits; see `AgentClient.run`.
   */
  readonly maxUnreadBytes?: number | undefined;
  /** Told of each line that is none of the protocol's, which is then passed over. Without it such a line ends the client. */
  readonly onProtocolError?: ((error: ProtocolError) => void) | undefined;
}

/** How long one call may take. */
export interface CallOptions {
  /** Ends the waiting with `AbortedError`; for `run` and `bash` also the work. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds until `TimeoutError`, instead of the client's own. A run's is for its message to be accepted; `AbortSignal.timeout(ms)` as its
   * `signal` limits all of it.
   */
  readonly timeout?: number | undefined;
}
