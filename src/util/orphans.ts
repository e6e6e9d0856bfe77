// Processes that left the group they were started in, such as daemons. On Linux they become children of this program when their parents
// end, instead of init's, and can be found below it whatever they did. Elsewhere there is no such way, and groups are all that is ended.
import { type Libc, loadLibc } from "./libc.ts";
import {
  listProcesses,
  ownChildren,
  type ProcessInfo,
  readProcess,
  startedWith,
  withDescendants,
} from "./processes.ts";

// See PR_SET_CHILD_SUBREAPER in prctl(2) and WNOHANG in waitpid(2).
const setChildSubreaper = 36;
const doNotWait = 1;
const reapAfterMs = 100;
const maxRounds = 100;

/** In the environment of every child, and of what it starts. */
export const ownerMark = { name: "PI_TS_OWNER", value: `${process.pid}-${Date.now().toString(36)}` } as const;

let adopting: Promise<void> | undefined;
let libc: Libc | undefined;
/**
 * Whether all that is below this process was started by it: not where it took the place of a shell that had children already, whose
 * descendants are nobody's to end. Then only what bears our mark counts as ours.
 */
let allOurs = false;

/** Makes this process the parent of all orphans among its descendants. `isOurs` tells children that it started before. */
export function adoptOrphans(isOurs: (pid: number) => boolean): Promise<void> {
  adopting ??= adopt(isOurs);
  return adopting;
}

async function adopt(isOurs: (pid: number) => boolean): Promise<void> {
  libc = await loadLibc();
  const onlyOurs = ownChildren().every(({ pid }) => isOurs(pid));
  allOurs = libc?.prctl(setChildSubreaper, 1, 0, 0, 0) === 0 && onlyOurs;
}

/** Kills all that this program started and that still runs; synchronous, so that it can be the last thing a program does. */
export function killDescendants(): void {
  const killed = new Set<string>();
  // What is born while we look is found by looking again; a process can slip through one look while its parent ends, but not through two.
  for (let round = 0, quiet = 0; round < maxRounds && quiet < 2; round++) {
    const living = ours().filter(({ alive, identity }) => alive && !killed.has(identity));
    for (const { pid, identity } of living) {
      killed.add(identity);
      kill(pid, "SIGKILL");
    }
    quiet = living.length === 0 ? quiet + 1 : 0;
  }
}

function ours(): ProcessInfo[] {
  if (allOurs) {
    const children = ownChildren();
    return children.length === 0 ? [] : withDescendants(children, listProcesses());
  }
  const processes = listProcesses();
  const variable = `${ownerMark.name}=${ownerMark.value}`;
  const marked = processes.filter(({ pid }) => pid !== process.pid && startedWith(pid, variable));
  return withDescendants(marked, processes);
}

/** Of what `pid` has started, all that is not in its group. */
export function straysOf(pid: number): ProcessInfo[] {
  const root = readProcess(pid);
  return root ? withDescendants([root], listProcesses()).filter(({ group }) => group !== pid) : [];
}

export function signalProcess({ pid, identity }: ProcessInfo, signal: NodeJS.Signals): void {
  if (readProcess(pid)?.identity === identity) kill(pid, signal);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone by itself, or another user's by now.
  }
}

let due: Timer | undefined;

/** `reapOrphans` in a moment, once for all children that end until then. */
export function reapOrphansSoon(): void {
  if (due) return;
  due = setTimeout(() => {
    due = undefined;
    reapOrphans();
  }, reapAfterMs);
  due.unref();
}

const seen = new Set<string>();

/**
 * Takes note of adopted children that have ended, as init would. The runtime does so for the children it started itself, and at once, so what
 * has ended is left alone until the event loop has come round twice.
 */
export function reapOrphans(): void {
  if (!libc) return;
  for (const { pid, alive, identity } of ownChildren()) {
    if (alive || seen.has(identity)) continue;
    seen.add(identity);
    const reap = () => {
      seen.delete(identity);
      if (readProcess(pid)?.identity === identity) libc?.waitpid(pid, null, doNotWait);
    };
    setTimeout(() => setTimeout(reap, 1).unref(), reapAfterMs).unref();
  }
}
