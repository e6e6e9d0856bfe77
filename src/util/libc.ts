// The functions of the C library that the runtime does not offer. Linux only, and loaded when one of them is first needed.
import type { FFIFunction } from "bun:ffi";
import { lazy } from "./lazy.ts";

export interface Libc {
  pipe2(fds: Int32Array, flags: number): number;
  fcntl(fd: number, command: number, argument: number): number;
  prctl(option: number, value: number, three: number, four: number, five: number): number;
  poll(request: Int16Array, count: number, timeoutMs: number): number;
  waitpid(pid: number, status: null, flags: number): number;
}

const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** Undefined where there is none that can be loaded. */
export const loadLibc: () => Promise<Libc | undefined> = lazy(() =>
  openLibc({
    pipe2: { args: ["ptr", "i32"], returns: "i32" },
    fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
    poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
    waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
  }),
);

/** These functions of glibc or musl, whichever this program runs with; undefined where neither can be loaded. */
export async function openLibc<const Functions extends Record<string, FFIFunction>>(functions: Functions) {
  if (process.platform !== "linux") return undefined;
  for (const library of libraries) {
    try {
      const { dlopen } = await import("bun:ffi");
      return dlopen(library, functions).symbols;
    } catch {
      // Another C library, or none that can be loaded.
    }
  }
  return undefined;
}
