// Children as leaders of their own process groups, so that each can be ended together with everything it started.
// Nothing that they start outlives the program, unless it is ended by SIGKILL without a guard. On macOS that holds for the groups, not for what
// left one; Windows has no groups, and there it holds for what a child has started while the child itself runs.
import { now } from "./clock.ts";
import type { Environment } from "./environment.ts";
import { exitOnSignals } from "./exit-on-signals.ts";
import { type GroupGuard, startGroupGuard } from "./group-guard.ts";
import {
  adoptOrphans,
  killDescendants,
  ownerMark,
  reapOrphans,
  reapOrphansSoon,
  signalProcess,
  straysOf,
} from "./orphans.ts";
import { listProcesses, type ProcessInfo } from "./processes.ts";

export interface GroupOptions {
  readonly cwd: string;
  readonly env: Environment;
  /** Where both stdout and stderr go: a descriptor, or a stream for stdout while stderr is discarded. */
  readonly output: number | "pipe";
  /** Where stderr goes instead. */
  readonly errors?: number | "pipe";
  /** Whether it gets a stdin to be written to; without it there is none. */
  readonly takesInput?: boolean;
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
  /** There when `errors` is `"pipe"`. */
  readonly stderr: ReadableStream<Uint8Array> | undefined;
  /** There when it takes input. */
  readonly stdin: Bun.FileSink | undefined;
}

const isWindows = process.platform === "win32";

/** Groups of ours that may still have members. */
const groups = new Map<number, { leaderReaped: boolean }>();

let guard: GroupGuard | undefined;

/** From now on the groups end also when the program is ended by SIGKILL; for a time in which that is to be expected. */
export function guardGroups(): void {
  // The guard is a shell that ends groups, and Windows has neither.
  if (isWindows) return;
  guard ??= startGroupGuard({ [ownerMark.name]: ownerMark.value });
  for (const pid of groups.keys()) if (hasMembers(pid)) guard.add(pid);
}

/** To be called before the first child whose daemons shall end with the program. Costs nothing the second time. */
export function followEscapees(): Promise<void> {
  return adoptOrphans((pid) => groups.has(pid));
}

/** Starts a child without a terminal, in a session and group of its own. Throws what `Bun.spawn` throws. */
export function spawnGroup(command: string[], options: GroupOptions): GroupChild {
  const { cwd, env, output, errors = output === "pipe" ? "ignore" : output, takesInput } = options;
  const group = { leaderReaped: false };
  endWithProgram();
  const child = Bun.spawn(command, {
    cwd,
    env: { ...env, [ownerMark.name]: ownerMark.value },
    detached: true,
    stdin: takesInput ? "pipe" : "ignore",
    stdout: output,
    stderr: errors,
    onExit: () => {
      group.leaderReaped = true;
      reapOrphansSoon();
    },
  });
  groups.set(child.pid, group);
  guard?.add(child.pid);
  return {
    pid: child.pid,
    exited: child.exited.then((code) => ({
      code,
      signal: child.signalCode === null ? undefined : `${child.signalCode}`,
    })),
    stdout: child.stdout instanceof ReadableStream ? child.stdout : undefined,
    stderr: child.stderr instanceof ReadableStream ? child.stderr : undefined,
    stdin: typeof child.stdin === "object" ? (child.stdin as Bun.FileSink) : undefined,
  };
}

/** Sends `signal` to every member; false when the group is not ours or has no member left. */
export function killGroup(pid: number, signal: NodeJS.Signals): boolean {
  return hasMembers(pid) && signalGroup(pid, signal);
}

/** Groups of ours that have members now. */
export function liveGroups(): number[] {
  reapOrphans();
  return [...groups.keys()].filter(hasMembers);
}

/** Ends every group and all that has left one, at once; synchronous, so that it can be the last thing a program does. */
export function killAllGroups(): void {
  if (!ending) return;
  for (const pid of groups.keys()) if (hasMembers(pid)) signalGroup(pid, "SIGKILL");
  killDescendants();
}

let ending = false;

/** Once there is something to end, every way out of the program ends it, also a signal that nobody else listens to. */
function endWithProgram(): void {
  if (ending) return;
  ending = true;
  // First of all, so that nobody writes any more when others clear up.
  process.prependListener("exit", killAllGroups);
  exitOnSignals();
}

/**
 * Asks a group and what its leader has started outside of it to end, and makes them after `graceMs`; resolves when nothing of it runs,
 * or soon after the last signal. A daemon that has cut all ties to the leader is left until the program ends.
 */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (!hasMembers(pid)) return;
  const strays = straysOf(pid);
  signalAll(pid, strays, "SIGTERM");
  if (await endWithin(pid, strays, graceMs)) return;
  strays.push(...straysOf(pid));
  signalAll(pid, strays, "SIGKILL");
  await endWithin(pid, strays, 100);
}

function signalAll(pid: number, strays: readonly ProcessInfo[], signal: NodeJS.Signals): void {
  killGroup(pid, signal);
  for (const stray of strays) signalProcess(stray, signal);
}

async function endWithin(pid: number, strays: readonly ProcessInfo[], ms: number): Promise<boolean> {
  const deadline = now() + ms;
  while (isAnyRunning(pid, strays)) {
    if (now() >= deadline) return false;
    await Bun.sleep(20);
  }
  return true;
}

/** Ended processes stay members until their parent takes note, which can be late in a container. */
function isAnyRunning(pid: number, strays: readonly ProcessInfo[]): boolean {
  if (strays.length === 0 && !hasMembers(pid)) return false;
  if (process.platform !== "linux") return true;
  const identities = new Set(strays.map(({ identity }) => identity));
  return listProcesses().some(({ group, alive, identity }) => alive && (group === pid || identities.has(identity)));
}

/**
 * Whether a group of ours has members; forgets it when not. While a group has members the system gives its number to no new process,
 * so a process with the number of a leader that is gone means that the group ended and the number is someone else's now.
 */
function hasMembers(pid: number): boolean {
  const group = groups.get(pid);
  if (!group) return false;
  const alive = isWindows ? !group.leaderReaped : pid > 1 && send(-pid, 0) && !(group.leaderReaped && send(pid, 0));
  if (!alive) {
    groups.delete(pid);
    guard?.remove(pid);
  }
  return alive;
}

/** On Windows any signal ends the whole tree at once, since there a console program cannot be asked. */
function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  if (!isWindows) return send(-pid, signal);
  const { exitCode } = Bun.spawnSync(["taskkill", "/PID", `${pid}`, "/T", "/F"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  return exitCode === 0 || send(pid, "SIGKILL");
}

/** False when there is no such process or group; one that may not be signalled is there all the same. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
