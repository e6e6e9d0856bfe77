// A pipe of the kernel. Bun gives its children sockets, and what a socket stands behind cannot be opened again:
// on Linux `echo x > /dev/stderr` or `tee /dev/stdout` would fail in every command.

export interface Pipe {
  readonly readFd: number;
  readonly writeFd: number;
}

const closeOnExec = 0o2000000;
const cLibraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

type Pipe2 = (fds: Int32Array, flags: number) => number;
let pipe2: Promise<Pipe2 | undefined> | undefined;

/** A new pipe that no other child inherits; undefined where the system offers none or needs none (macOS). */
export async function createPipe(): Promise<Pipe | undefined> {
  pipe2 ??= loadPipe2();
  const fds = new Int32Array(2);
  if ((await pipe2)?.(fds, closeOnExec) !== 0) return undefined;
  const [readFd = -1, writeFd = -1] = fds;
  return { readFd, writeFd };
}

async function loadPipe2(): Promise<Pipe2 | undefined> {
  if (process.platform !== "linux") return undefined;
  for (const library of cLibraries) {
    try {
      const { dlopen } = await import("bun:ffi");
      return dlopen(library, { pipe2: { args: ["ptr", "i32"], returns: "i32" } }).symbols.pipe2;
    } catch {
      // Another C library, or none that can be loaded.
    }
  }
  return undefined;
}
