// Children as leaders of their own process groups, so that each can be ended together with everything it started.
// Nothing in a group may outlive the program: every way out calls `killAllGroups`.
import { readdirSync, readFileSync } from "node:fs";

export interface GroupOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where both stdout and stderr go: a descriptor, or a stream for stdout while stderr is discarded. */
  readonly output: number | "pipe";
}

export interface Exit {
  /** The exit status; 128 + the signal's number for a death by signal. */
  readonly code: number;
  /** The signal's name, or its number where it has none. */
  readonly signal: string | undefined;
}

export interface GroupChild {
  /** The child's process id, which is its group's id too. */
  readonly pid: number;
  /** The child's own end, whatever became of the rest of its group. */
  readonly exited: Promise<Exit>;
  /** There when `output` is `"pipe"`. */
  readonly stdout: ReadableStream<Uint8Array> | undefined;
}

/** Groups of ours that may still have members. */
const groups = new Map<number, { leaderReaped: boolean }>();

/** Starts a child without a terminal or input, in a session and group of its own. Throws what `Bun.spawn` throws. */
export function spawnGroup(command: string[], options: GroupOptions): GroupChild {
  const { cwd, env, output } = options;
  const group = { leaderReaped: false };
  const child = Bun.spawn(command, {
    cwd,
    env,
    detached: true,
    stdin: "ignore",
    stdout: output,
    stderr: output === "pipe" ? "ignore" : output,
    onExit: () => {
      group.leaderReaped = true;
    },
  });
  groups.set(child.pid, group);
  return {
    pid: child.pid,
    exited: child.exited.then((code) => ({
      code,
      signal: child.signalCode === null ? undefined : `${child.signalCode}`,
    })),
    stdout: child.stdout instanceof ReadableStream ? child.stdout : undefined,
  };
}

/** Sends `signal` to every member; false when the group is not ours or has no member left. */
export function killGroup(pid: number, signal: NodeJS.Signals): boolean {
  return hasMembers(pid) && send(-pid, signal);
}

/** Groups of ours that have members now. */
export function liveGroups(): number[] {
  return [...groups.keys()].filter(hasMembers);
}

/** Ends every group at once; synchronous, so that it can be the last thing a program does. */
export function killAllGroups(): void {
  for (const pid of liveGroups()) send(-pid, "SIGKILL");
}

/** Asks a group to end and makes it after `graceMs`; resolves when nothing in it runs, or soon after the last signal. */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (!killGroup(pid, "SIGTERM")) return;
  if (await endsWithin(pid, graceMs)) return;
  killGroup(pid, "SIGKILL");
  await endsWithin(pid, 100);
}

async function endsWithin(pid: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (isRunning(pid)) {
    if (performance.now() >= deadline) return false;
    await Bun.sleep(20);
  }
  return true;
}

/** Whether anything in the group still runs. Ended processes stay members until init takes note, which can be late in a container. */
function isRunning(pid: number): boolean {
  if (!hasMembers(pid)) return false;
  if (process.platform !== "linux") return true;
  return readdirSync("/proc").some((entry) => /^\d+$/.test(entry) && isRunningMember(entry, pid));
}

/** By /proc/<pid>/stat, see proc(5): after the name in brackets come the state, the parent and the group. */
function isRunningMember(entry: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 3);
    return Number(pgrp) === group && state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}

/**
 * Whether a group of ours has members; forgets it when not. While a group has members the system gives its number to no new process,
 * so a process with the number of a leader that is gone means that the group ended and the number is someone else's now.
 */
function hasMembers(pid: number): boolean {
  const group = groups.get(pid);
  if (!group) return false;
  const alive = pid > 1 && send(-pid, 0) && !(group.leaderReaped && send(pid, 0));
  if (!alive) groups.delete(pid);
  return alive;
}

/** False when there is no such process or group; one that may not be signalled is there all the same. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
