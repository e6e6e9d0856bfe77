// What a server says beside the protocol: to a private file of bounded size, its latest end kept for errors. Nothing of it is ever lost to a
// full pipe, and nothing of it goes to the terminal.
import { closeSync, fchmodSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { makePrivateFolder } from "../../util/private-file.ts";
import { visible } from "../../util/sanitize.ts";

export interface ServerLog {
  /** A process begins; what the one before said at last is of no interest any more. */
  begin(pid: number): void;
  /** Takes the next bytes of stderr. */
  write(bytes: Uint8Array): void;
  /** A line of ours, or one that was none of the protocol's. */
  note(text: string): void;
  /** The last lines, safe to show; "" when there are none. */
  tail(): string;
  /** Closes the file. What comes later, as from the next process, goes on in it. */
  close(): void;
}

/** A file larger than this begins anew with the next run, and a run writes no more than this. */
const maxBytes = 1024 * 1024;
const tailCharacters = 8192;
const tailLines = 8;
const lineCharacters = 400;

/** For all processes of one server in a run. The file is made with the first thing that is written; where that fails there is just the tail. */
export function createServerLog(path: string): ServerLog {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let tail = "";
  let file: number | undefined;
  let left = maxBytes;
  let isBegun = false;

  function store(bytes: Uint8Array): void {
    if (left <= 0) return;
    try {
      file ??= open(path, isBegun);
      isBegun = true;
      writeSync(file, bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) writeSync(file, encoder.encode("\n[the rest of this run is left out]\n"));
    } catch {
      left = 0;
    }
  }

  const note = (text: string) => {
    if (left > 0) store(encoder.encode(`[${new Date().toISOString()}] ${text}\n`));
  };

  return {
    begin(pid) {
      tail = "";
      note(`started, process ${pid}`);
    },
    write(bytes) {
      store(bytes);
      // Of a flood only the end is worth decoding.
      tail = `${tail}${decoder.decode(bytes.subarray(-tailCharacters), { stream: true })}`.slice(-tailCharacters);
    },
    note,
    tail() {
      const lines = visible(tail)
        .split("\n")
        .map((line) => line.trimEnd())
        .filter((line) => line !== "");
      return lines
        .slice(-tailLines)
        .map((line) => line.slice(-lineCharacters))
        .join("\n");
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** Opened to write behind what is there, as long as that is not too much or of this run: another process may write to it as well. */
function open(path: string, isOurs: boolean): number {
  makePrivateFolder(dirname(path));
  const file = openSync(path, "a", 0o600);
  fchmodSync(file, 0o600);
  if (!isOurs && fstatSync(file).size > maxBytes) ftruncateSync(file, 0);
  return file;
}
