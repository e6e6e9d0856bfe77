// Signals that end a mode: the first lets it end in order, as the mode sees fit; the second ends the process at once.
import { endingSignals, type SignalName } from "../util/ending-signals.ts";
import { signalExitCodes as exitCodes } from "../util/exit-codes.ts";
import { killAllGroups } from "../util/process-group.ts";
import type { Io } from "./io.ts";

export interface SignalWatch {
  /** 128 + the number of the first signal that came, if one did. */
  exitCode(): number | undefined;
  stop(): void;
}

/** The signal that an exit code stands for. */
export function signalOf(exitCode: number): SignalName | undefined {
  return (Object.keys(exitCodes) as SignalName[]).find((name) => exitCodes[name] === exitCode);
}

/** Calls `onFirst` on the first of these signals; that a parent ignores them makes no difference, but for a hangup. */
export function watchSignals(
  io: Io,
  onFirst: (name: SignalName) => void,
  names: readonly SignalName[] = endingSignals(),
): SignalWatch {
  let received: number | undefined;
  const handlers = names.map((name) => {
    const handler = () => {
      if (received !== undefined) leave(io, received);
      received = exitCodes[name];
      onFirst(name);
    };
    process.on(name, handler);
    return [name, handler] as const;
  });
  return {
    exitCode: () => received,
    stop() {
      for (const [name, handler] of handlers) process.off(name, handler);
    },
  };
}

/** Ends the process and all it started, whatever is still to be written. */
export function leave(io: Pick<Io, "exit">, code: number): never {
  killAllGroups();
  return io.exit(code);
}
