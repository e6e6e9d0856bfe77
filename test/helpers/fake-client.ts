// Clients of small fake agents (see fake-agent.ts), and what goes wrong with them.
import { join } from "node:path";
import { AgentClient, type StartOptions } from "../../src/index.ts";

const program = join(import.meta.dir, "fake-agent.ts");

/** The command line of an agent that behaves so. */
export function fakeAgent(behaviour: string, detail = ""): string[] {
  return [process.execPath, program, behaviour, detail];
}

export function startFake(behaviour: string, detail = "", options: StartOptions = {}): Promise<AgentClient> {
  return AgentClient.start({ command: fakeAgent(behaviour, detail), ...options });
}

/** What a promise rejects with; an error of its own when it does not. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`it did not fail, but gave ${JSON.stringify(value)}`);
    },
    (error) => error,
  );
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
