// The whole output of a command in a file, once it is more than a result can hold.
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { outputFolder } from "../util/output-folder.ts";
import type { PartSink } from "./bounded-output.ts";

/** Takes the output as plain text, so that the file can be read and searched like any other. Never throws. */
export interface Spill extends PartSink {
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
/** As much of a line can be taken back; of a longer one what has come is written. */
const maxLineBytes = 1_000_000;
/** So many files are kept; the oldest goes when there is one more. */
const maxFiles = 8;

const kept: string[] = [];
let count = 0;

/** The first `startAt` bytes are held back; without more of them no file is made. */
export function createSpill(startAt: number): Spill {
  const early = createHeld();
  const line = createHeld();
  let written = 0;
  let cut = false;
  let closed = false;
  let file: { readonly path: string; readonly fd: number } | undefined;

  function open(): void {
    const path = join(outputFolder(), `${++count}.txt`);
    file = { path, fd: openSync(path, "wx", 0o600) };
    for (const bytes of early.take()) append(file.fd, bytes);
  }

  function append(fd: number, bytes: Uint8Array): void {
    if (cut) return;
    const room = spillLimit - written;
    cut = bytes.length > room;
    // No half of a character at the end, or the file would not be text.
    const end = cut ? characterStart(bytes, room) : bytes.length;
    for (let at = 0; at < end; ) at += writeSync(fd, bytes, at, end - at);
    written += end;
  }

  function write(bytes: Uint8Array): void {
    if (!file && early.length() + bytes.length <= startAt) {
      early.add(bytes);
      return;
    }
    if (!file) open();
    if (file) append(file.fd, bytes);
  }

  function endLine(): void {
    for (const bytes of line.take()) write(bytes);
  }

  /** No room, or no folder that can be written: then there is no file, and the result says nothing of one. */
  function orDrop(work: () => void): void {
    try {
      work();
    } catch {
      drop();
    }
  }

  function close(): void {
    if (file) closeSync(file.fd);
    early.take();
    line.take();
  }

  function drop(): void {
    close();
    if (file) rmSync(file.path, { force: true });
    file = undefined;
    closed = true;
  }

  return {
    add(part) {
      if (closed || cut) return;
      const bytes = typeof part === "string" ? Buffer.from(part) : part;
      const end = bytes.lastIndexOf(0x0a) + 1;
      orDrop(() => {
        if (end > 0) endLine();
        write(bytes.subarray(0, end));
        line.add(bytes.subarray(end));
        if (line.length() > maxLineBytes) endLine();
      });
    },
    eraseLine: () => void line.take(),
    keep() {
      if (!closed) orDrop(endLine);
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

/** The nearest place up to `at` where a character of the UTF-8 text begins. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

interface Held {
  /** The memory is not kept. */
  add(bytes: Uint8Array): void;
  /** Gives all of it away. */
  take(): Uint8Array[];
  length(): number;
}

/** Bytes in memory; small pieces go together into larger ones. */
function createHeld(): Held {
  let pieces: Uint8Array[] = [];
  let length = 0;
  return {
    add(bytes) {
      if (bytes.length === 0) return;
      length += bytes.length;
      const last = pieces.at(-1);
      if (last && bytes.length < 4096 && last.length < 4096) pieces[pieces.length - 1] = Buffer.concat([last, bytes]);
      else pieces.push(bytes.slice());
    },
    take() {
      const all = pieces;
      pieces = [];
      length = 0;
      return all;
    },
    length: () => length,
  };
}
