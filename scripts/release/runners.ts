// How a program for some platform can be run on this machine: as it is, under an emulator, with a borrowed C library, or not at all.
import { existsSync } from "node:fs";
import { describeExecutable } from "./executable.ts";
import { buildMuslLibs } from "./musl-libs.ts";
import type { Target } from "./targets.ts";

export interface Runner {
  /** What goes before the program. */
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** For the table: `here`, or what stands in for the real machine. */
  readonly label: string;
}

export type Runnable = Runner | { readonly reason: string };

/** For `program`, the one built for `target`; `scratch` is a folder for what has to be made first. */
export function findRunner(target: Target, program: string, scratch: string): Runnable {
  const { os, arch, name } = target;
  const hostOs = { darwin: "macos", win32: "windows" }[process.platform as string] ?? process.platform;
  if (os === "windows" && hostOs === "linux")
    return under(["wine"], "Wine", {}, { WINEPREFIX: `${scratch}/wine`, WINEDEBUG: "-all,err+module" });
  if (os !== hostOs) return { reason: `needs ${os}` };
  if (os !== "linux") return arch === process.arch ? here() : { reason: `needs ${os} on ${arch}` };

  const host = describeExecutable(process.execPath);
  if (name.endsWith("-baseline"))
    return host === target.format
      ? under(["qemu-x86_64", "-cpu", "Nehalem"], "qemu, a Nehalem")
      : { reason: "needs linux on x64 with glibc" };
  if (host === target.format) return here();
  if (arch !== process.arch) return foreign(target);
  if (target.format.endsWith("musl")) return withMusl(target, program, scratch);
  return { reason: "needs glibc" };
}

function here(): Runner {
  return { prefix: [], env: {}, label: "here" };
}

function under(
  words: [string, ...string[]],
  label: string,
  needs: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Runnable {
  const [emulator, ...rest] = words;
  const program = Bun.which(emulator);
  if (program === null) return { reason: `needs ${emulator}` };
  for (const [path, what] of Object.entries(needs)) if (!existsSync(path)) return { reason: `needs ${what}` };
  return { prefix: [program, ...rest], env, label };
}

/** With Debian's names for what is missing. */
function foreign({ arch, format }: Target): Runnable {
  if (format.endsWith("musl")) return { reason: `needs linux on ${arch} with musl` };
  if (arch !== "arm64") return { reason: `needs linux on ${arch}` };
  const root = "/usr/aarch64-linux-gnu";
  return under(["qemu-aarch64", "-L", root], "qemu, arm64", { [`${root}/lib/libc.so.6`]: "libc6-arm64-cross" });
}

function withMusl({ arch }: Target, program: string, scratch: string): Runnable {
  const loader = `/lib/ld-musl-${arch === "x64" ? "x86_64" : "aarch64"}.so.1`;
  if (!existsSync(loader)) return { reason: `needs ${loader} (Debian's musl)` };
  const libs = buildMuslLibs(program, scratch);
  if (typeof libs !== "string") return libs;
  return { prefix: [], env: { LD_LIBRARY_PATH: libs }, label: "musl's loader" };
}
