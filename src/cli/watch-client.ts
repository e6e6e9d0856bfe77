// Ends an agent whose client has gone without a word, by Ctrl-C or a kill: the end of its input alone does not say so, and an agent that waits
// for a model or a command writes nothing that could fail.
import { clientMark } from "../util/client-mark.ts";
import type { Environment } from "../util/environment.ts";

const everyMs = 500;

/**
 * Only for a client that has said its process id and has started this process itself; one that was started by a shell's pipe may outlive it.
 * The first signal ends the run in order, the next one the process.
 */
export function watchClient(env: Environment): void {
  const client = Number(env[clientMark]);
  if (process.ppid !== client) return;
  setInterval(() => {
    if (process.ppid !== client) process.kill(process.pid, "SIGINT");
  }, everyMs).unref();
}
