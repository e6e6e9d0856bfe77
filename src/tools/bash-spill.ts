// The whole output of a command in a file, once it is more than a result can hold.
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { outputFolder } from "../util/output-folder.ts";

export interface Spill {
  /** Takes the next bytes; the memory is not kept. Never throws. */
  write(bytes: Uint8Array): void;
  /** Ends the file and keeps it; undefined when there is none, as where it could not be written. */
  keep(): SpilledFile | undefined;
  /** Ends the file and removes it. */
  drop(): void;
}

export interface SpilledFile {
  readonly path: string;
  /** It is not the whole output: no more than the limit was written. */
  readonly cut: boolean;
}

/** The bytes a file may have. */
export const spillLimit = 50_000_000;
/** So many files are kept; the oldest goes when there is one more. */
const maxFiles = 8;

const kept: string[] = [];
let count = 0;

/** The first `startAt` bytes are held back; without more of them no file is made. */
export function createSpill(startAt: number): Spill {
  let early: Uint8Array[] = [];
  let held = 0;
  let written = 0;
  let cut = false;
  let closed = false;
  let file: { readonly path: string; readonly fd: number } | undefined;

  function open(): void {
    const path = join(outputFolder(), `${++count}.txt`);
    file = { path, fd: openSync(path, "wx", 0o600) };
    for (const bytes of early) append(file.fd, bytes);
    early = [];
  }

  function append(fd: number, bytes: Uint8Array): void {
    const piece = bytes.subarray(0, spillLimit - written);
    if (piece.length < bytes.length) cut = true;
    for (let at = 0; at < piece.length; ) at += writeSync(fd, piece, at);
    written += piece.length;
  }

  function hold(bytes: Uint8Array): void {
    held += bytes.length;
    const last = early.at(-1);
    // Small pieces go together into larger ones.
    if (last && bytes.length < 4096 && last.length < 4096) early[early.length - 1] = Buffer.concat([last, bytes]);
    else early.push(bytes.slice());
  }

  function close(): void {
    if (file) closeSync(file.fd);
    early = [];
  }

  function drop(): void {
    close();
    if (file) rmSync(file.path, { force: true });
    file = undefined;
    closed = true;
  }

  return {
    write(bytes) {
      if (closed || cut) return;
      try {
        if (!file && held + bytes.length <= startAt) return hold(bytes);
        if (!file) open();
        if (file) append(file.fd, bytes);
      } catch {
        // No room, or no folder that can be written: then there is no file, and the result says nothing of one.
        drop();
      }
    },
    keep() {
      if (closed || !file) return undefined;
      close();
      closed = true;
      kept.push(file.path);
      const oldest = kept.length > maxFiles ? kept.shift() : undefined;
      if (oldest !== undefined) rmSync(oldest, { force: true });
      return { path: file.path, cut };
    },
    drop,
  };
}
