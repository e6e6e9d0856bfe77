// What a client of RPC mode feels: how soon the first answer comes, how long each takes, memory at rest.
import { readFileSync } from "node:fs";
import type { Program } from "./measure.ts";

export interface RpcFigures {
  /** From the start to the first response, in milliseconds, of several starts. */
  readonly first: readonly number[];
  /** Of `get_state`, one after another, in milliseconds. */
  readonly each: readonly number[];
  /** Resident memory after that, in MB; undefined where the system does not tell. */
  readonly idleMb: number | undefined;
}

const starts = 20;
const requests = 1000;

/** Of programs that answer lines of stdin; they take turns. */
export async function measureRpc(programs: readonly Program[]): Promise<RpcFigures[]> {
  const first: number[][] = programs.map(() => []);
  for (let i = 0; i < starts; i++) {
    for (const [at, program] of programs.entries()) first[at]!.push(await timeFirstAnswer(program));
  }
  const figures: RpcFigures[] = [];
  for (const [at, program] of programs.entries()) figures.push({ first: first[at]!, ...(await timeAnswers(program)) });
  return figures;
}

async function timeFirstAnswer(program: Program): Promise<number> {
  const begun = performance.now();
  const client = start(program);
  await client.ask();
  const taken = performance.now() - begun;
  await client.end();
  return taken;
}

async function timeAnswers(program: Program): Promise<Pick<RpcFigures, "each" | "idleMb">> {
  const client = start(program);
  const each: number[] = [];
  for (let i = 0; i < requests; i++) {
    const asked = performance.now();
    await client.ask();
    each.push(performance.now() - asked);
  }
  const idleMb = residentMb(client.pid);
  await client.end();
  return { each, idleMb };
}

function start({ command, cwd, env }: Program) {
  const child = Bun.spawn([...command], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  const reader = child.stdout.getReader();
  return {
    pid: child.pid,
    /** One `get_state` and its response; nothing else is written, so a line's end is the response's. */
    async ask(): Promise<void> {
      child.stdin.write('{"type":"get_state"}\n');
      await child.stdin.flush();
      let part = await reader.read();
      while (!part.done && part.value.at(-1) !== 0x0a) part = await reader.read();
      if (part.done) throw new Error(`${command.join(" ")} ended without an answer`);
    },
    async end(): Promise<void> {
      await child.stdin.end();
      await child.exited;
    },
  };
}

/** VmRSS of /proc/<pid>/status, see proc(5). */
function residentMb(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : (Number(kilobytes) * 1024) / 1e6;
  } catch {
    return undefined;
  }
}
