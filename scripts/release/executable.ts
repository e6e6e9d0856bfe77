// What platform a program file is for, read from its header: a release must not carry the wrong one under a good name.
import { readFileSync } from "node:fs";
import { signatureState } from "./mach-o.ts";

/** Such as `ELF x64 musl`, `Mach-O arm64 signed` or `PE x64`; throws when it is no such file. */
export function describeExecutable(path: string): string {
  const bytes = readFileSync(path);
  if (bytes.length < 4096) throw new Error(`${path} is too short to be a program`);
  if (bytes.readUInt32BE(0) === 0x7f454c46) return describeElf(bytes);
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return describeMachO(bytes);
  if (bytes.toString("latin1", 0, 2) === "MZ") return describePe(bytes);
  throw new Error(`${path} is no ELF, Mach-O or PE file`);
}

function named(machines: Readonly<Record<number, string>>, machine: number): string {
  return machines[machine] ?? `machine 0x${machine.toString(16)}`;
}

/** See elf(5), for 64 bits. Which C library it wants is told by the loader it asks for. */
function describeElf(bytes: Buffer): string {
  const machine = named({ 62: "x64", 183: "arm64" }, bytes.readUInt16LE(18));
  const [headers, size, count] = [Number(bytes.readBigUInt64LE(32)), bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  for (let at = headers; at < headers + size * count; at += size) {
    const isInterpreter = bytes.readUInt32LE(at) === 3;
    if (!isInterpreter) continue;
    const offset = Number(bytes.readBigUInt64LE(at + 8));
    const loader = bytes.toString("latin1", offset, bytes.indexOf(0, offset));
    return `ELF ${machine} ${loader.includes("ld-musl") ? "musl" : "glibc"}`;
  }
  return `ELF ${machine} static`;
}

/** See Microsoft's "PE Format". */
function describePe(bytes: Buffer): string {
  return `PE ${named({ 34404: "x64", 43620: "arm64" }, bytes.readUInt16LE(bytes.readUInt32LE(0x3c) + 4))}`;
}

/** Unsigned files and stale signatures have their own word, since macOS kills such programs as they start. */
function describeMachO(bytes: Buffer): string {
  const machine = named({ 16777223: "x64", 16777228: "arm64" }, bytes.readUInt32LE(4));
  return `Mach-O ${machine} ${signatureState(bytes)}`;
}
