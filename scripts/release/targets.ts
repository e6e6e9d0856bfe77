// The platforms that a release is built for, and the names of its files.

export interface Target {
  /** Also the end of the file's name, see `fileName`. */
  readonly name: string;
  readonly os: "linux" | "macos" | "windows";
  readonly arch: "x64" | "arm64";
  /** As `bun build --target` names it. */
  readonly bunTarget: string;
  /** The npm package with that platform's Bun, see runtimes/package.json. */
  readonly runtime: string;
  /** What `describeExecutable` says of the right file. */
  readonly format: string;
}

/** `linux-x64-baseline` is for processors without AVX2. Bun 1.4 has one program for both, so today the two files are the same bytes. */
export const targets: readonly Target[] = [
  linux("x64", ""),
  linux("x64", "-baseline"),
  linux("arm64", ""),
  linux("x64", "-musl"),
  linux("arm64", "-musl"),
  macos("x64"),
  macos("arm64"),
  {
    name: "windows-x64",
    os: "windows",
    arch: "x64",
    bunTarget: "bun-windows-x64",
    runtime: "@oven/bun-windows-x64",
    format: "PE x64",
  },
];

export function fileName({ name, os }: Target): string {
  return `pi-ts-${name}${os === "windows" ? ".exe" : ""}`;
}

function linux(arch: Target["arch"], variant: "" | "-baseline" | "-musl"): Target {
  return {
    name: `linux-${arch}${variant}`,
    os: "linux",
    arch,
    bunTarget: `bun-linux-${arch}${variant}`,
    runtime: `@oven/bun-linux-${packageArch(arch)}${variant}`,
    format: `ELF ${arch} ${variant === "-musl" ? "musl" : "glibc"}`,
  };
}

function macos(arch: Target["arch"]): Target {
  return {
    name: `macos-${arch}`,
    os: "macos",
    arch,
    bunTarget: `bun-darwin-${arch}`,
    runtime: `@oven/bun-darwin-${packageArch(arch)}`,
    format: `Mach-O ${arch} signed`,
  };
}

function packageArch(arch: Target["arch"]): string {
  return arch === "arm64" ? "aarch64" : arch;
}
