// Commands of the user's own: run beside whatever else runs, recorded when no prompt is in the way, and heard of by the model with the next prompt.
import type { BashExecutionMessage } from "../protocol/message.ts";
import type { BashResult } from "../protocol/rpc.ts";
import type { BashRun } from "./run-bash.ts";

export type UserCommandOptions = Pick<BashRun, "onOutput" | "hold"> & {
  /** Its output is stored, but the model is not told of it. */
  readonly excludeFromContext?: boolean | undefined;
};

export interface UserCommands {
  /** Rejects with `AppError` when the command cannot be started or recorded. */
  run(command: string, options: UserCommandOptions): Promise<BashResult>;
  abort(): void;
  /** Records those that have ended. */
  record(): void;
}

export interface UserCommandParts {
  readonly environment: () => Pick<BashRun, "cwd" | "env" | "sandbox" | "maxOutput">;
  /** Whether a message cannot be recorded now; `record` is called later then. */
  readonly isBusy: () => boolean;
  readonly add: (message: BashExecutionMessage) => void;
}

export function createUserCommands({ environment, isBusy, add }: UserCommandParts): UserCommands {
  const running = new Set<AbortController>();
  const ended: BashExecutionMessage[] = [];

  function record(): void {
    for (let message = ended.shift(); message; message = ended.shift()) add(message);
  }

  return {
    async run(command, { excludeFromContext, ...output }) {
      const controller = new AbortController();
      running.add(controller);
      try {
        const { runBash } = await import("./run-bash.ts");
        const { cwd, env, sandbox, maxOutput } = environment();
        const { signal } = controller;
        const result = await runBash({ cwd, env, sandbox, maxOutput, command, signal, ...output });
        const excluded = excludeFromContext ? { excludeFromContext } : {};
        ended.push({ role: "bashExecution", command, ...result, ...excluded, timestamp: Date.now() });
        if (!isBusy()) record();
        return result;
      } finally {
        running.delete(controller);
      }
    },
    abort() {
      for (const controller of running) controller.abort();
    },
    record,
  };
}
