// What a client of RPC and JSON mode feels: how soon the first answer comes, how long each takes, events a second, memory at rest.
import { readFileSync } from "node:fs";

export interface RpcFigures {
  /** From the start to the first response, in milliseconds; the median of several starts. */
  readonly firstAnswerMs: number;
  /** Of `get_state`, one after another, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Resident memory after that, in MB; undefined where the system does not tell. */
  readonly idleMb: number | undefined;
  /** Records of a 20,000-delta answer in JSON mode, start and end of the program included. */
  readonly eventsPerSecond: number;
}

const starts = 10;
const requests = 1000;

/** `env` points to the server's long answer. */
export async function measureRpc(program: string, cwd: string, env: Record<string, string>): Promise<RpcFigures> {
  const first: number[] = [];
  for (let i = 0; i < starts; i++) {
    const begun = performance.now();
    const client = start(program, cwd, env);
    await client.ask();
    first.push(performance.now() - begun);
    await client.end();
  }
  const client = start(program, cwd, env);
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const asked = performance.now();
    await client.ask();
    times.push(performance.now() - asked);
  }
  const idleMb = residentMb(client.pid);
  await client.end();
  const sorted = times.sort((a, b) => a - b);
  return {
    firstAnswerMs: first.sort((a, b) => a - b)[starts / 2] ?? 0,
    p50: sorted[requests * 0.5] ?? 0,
    p99: sorted[requests * 0.99] ?? 0,
    idleMb,
    eventsPerSecond: countEvents(program, cwd, env),
  };
}

function start(program: string, cwd: string, env: Record<string, string>) {
  const child = Bun.spawn([program, "--mode", "rpc", "--no-session"], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  const reader = child.stdout.getReader();
  return {
    pid: child.pid,
    /** One `get_state` and its response; nothing else is written, so a line's end is the response's. */
    async ask(): Promise<void> {
      child.stdin.write('{"type":"get_state"}\n');
      await child.stdin.flush();
      for (let part = await reader.read(); !part.done && part.value.at(-1) !== 0x0a; ) part = await reader.read();
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

function countEvents(program: string, cwd: string, env: Record<string, string>): number {
  const begun = performance.now();
  const { stdout } = Bun.spawnSync([program, "--mode", "json", "--no-session", "hi"], { cwd, env, stderr: "ignore" });
  const seconds = (performance.now() - begun) / 1000;
  return stdout.toString().split("\n").length / seconds;
}
