// What the system says of processes: whether one has ended, and the rest by /proc; nothing where there is no such thing (macOS).
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** False for a process that has ended and only waits for its parent to take note. */
  readonly alive: boolean;
  /** When it began, in clock ticks since the system did. */
  readonly started: string;
  /** Its number together with the moment it began, which no other process can have. */
  readonly identity: string;
}

/** Whether nothing runs under this number; false where that cannot be told. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

export function listProcesses(): ProcessInfo[] {
  return numbersIn("/proc").flatMap((pid) => readProcess(pid) ?? []);
}

/** By /proc/<pid>/stat, see proc(5): behind the name in brackets come state, parent, group and, as the 20th field, the start. */
export function readProcess(pid: number): ProcessInfo | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 20);
    const started = fields[19] ?? "";
    return {
      pid,
      parent: Number(fields[1]),
      group: Number(fields[2]),
      alive: fields[0] !== "Z" && fields[0] !== "X",
      started,
      identity: `${pid}@${started}`,
    };
  } catch {
    return undefined;
  }
}

/** The children of this process, by the kernel's own list where it keeps one. */
export function ownChildren(): ProcessInfo[] {
  try {
    const lists = numbersIn("/proc/self/task").map((task) =>
      readFileSync(`/proc/self/task/${task}/children`, "latin1"),
    );
    return lists.flatMap((list) =>
      list.split(" ").flatMap((pid) => (pid === "" ? [] : (readProcess(Number(pid)) ?? []))),
    );
  } catch {
    return listProcesses().filter(({ parent }) => parent === process.pid);
  }
}

/** `roots` and everything below them, as far as it is in `processes`. */
export function withDescendants(roots: readonly ProcessInfo[], processes: readonly ProcessInfo[]): ProcessInfo[] {
  const found = new Set(roots);
  // A set can grow while it is walked, and each member is visited once.
  for (const { pid } of found) for (const child of processes) if (child.parent === pid) found.add(child);
  return [...found];
}

/** Whether the process was started with these words in its environment; false where it may not be read. */
export function startedWith(pid: number, variable: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0${variable}\0`);
  } catch {
    return false;
  }
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}
