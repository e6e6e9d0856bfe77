// Shows a window of a text file with line numbers, in one pass and bounded memory.
import type { FileHandle } from "node:fs/promises";
import * as z from "zod/mini";
import { headOf } from "../util/truncate.ts";
import { defineTool } from "./define-tool.ts";
import description from "./read.md" with { type: "text" };
import { filePath, notUtf8, openRegularFile, toFileError } from "./regular-file.ts";
import { toolError } from "./tool.ts";

const defaultLimit = 2000;
/** The most lines of one call, whatever limit was asked for; the last line says where to go on. */
const maxLimit = 50_000;
const maxLineCharacters = 2000;
/** More than this is read only as far as a window that was asked for. */
const maxFileBytes = 200 * 1024 * 1024;
const chunkBytes = 256 * 1024;

export const read = defineTool({
  name: "read",
  access: "read",
  description,
  input: z.strictObject({
    path: filePath,
    offset: z.optional(z.int().check(z.minimum(1), z.describe("The first line to show, counted from 1 (default 1)"))),
    limit: z.optional(z.int().check(z.minimum(1), z.describe(`How many lines to show (default ${defaultLimit})`))),
  }),
  summarize: ({ path }) => path,
  paths: ({ path }) => [path],
  run: async ({ path, offset = 1, limit }, { cwd, signal }) => {
    const file = await openRegularFile(cwd, path);
    try {
      const { size } = await file.stat();
      if (size > maxFileBytes && limit === undefined) {
        throw toolError(`${path} is very large (${size} bytes); give offset and limit, or use bash with grep`);
      }
      const lines = createLineWindow(offset, Math.min(limit ?? defaultLimit, maxLimit));
      const complete = await scan(file, path, lines, signal);
      return { text: show(path, offset, lines, complete) };
    } catch (error) {
      throw await toFileError(error, "read", cwd, path);
    } finally {
      await file.close();
    }
  },
});

/** Feeds the file to `lines`; false when it stopped before the end, with the window full and more read than is worth counting. */
async function scan(file: FileHandle, path: string, lines: LineWindow, signal: AbortSignal): Promise<boolean> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (bytes?: Uint8Array) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch {
      throw notUtf8(path);
    }
  };
  const buffer = new Uint8Array(chunkBytes);
  let total = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, buffer.length);
    if (bytesRead === 0) break;
    lines.add(decode(buffer.subarray(0, bytesRead)));
    total += bytesRead;
    if (total > maxFileBytes && lines.isFull()) return false;
  }
  lines.add(decode());
  lines.end();
  return true;
}

interface LineWindow {
  add(text: string): void;
  /** The text is over: what follows the last line break, if anything, is a line too. */
  end(): void;
  /** Whether every line of the window has been seen whole. */
  isFull(): boolean;
  /** The numbered lines of the window. */
  readonly shown: readonly string[];
  /** The number of lines seen whole. */
  count(): number;
}

function createLineWindow(offset: number, limit: number): LineWindow {
  const shown: string[] = [];
  let count = 0;
  /** The current line: its beginning, as far as it may be shown, its length, and its last character. */
  let start = "";
  let length = 0;
  let last = "";

  function extend(piece: string): void {
    if (piece === "") return;
    if (isInWindow() && length <= maxLineCharacters) start += piece.slice(0, maxLineCharacters + 1 - length);
    length += piece.length;
    last = piece.charAt(piece.length - 1);
  }

  function finish(): void {
    const visibleLength = last === "\r" ? length - 1 : length;
    if (isInWindow()) shown.push(`${String(count + 1).padStart(6)}\t${lineText(start, visibleLength)}`);
    count++;
    start = "";
    length = 0;
    last = "";
  }

  const isInWindow = () => count + 1 >= offset && shown.length < limit;

  return {
    shown,
    count: () => count,
    isFull: () => shown.length >= limit,
    add(text) {
      let from = 0;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
        extend(text.slice(from, at));
        finish();
        from = at + 1;
      }
      extend(text.slice(from));
    },
    end() {
      if (length > 0) finish();
    },
  };
}

function lineText(start: string, length: number): string {
  if (length <= maxLineCharacters) return start.slice(0, length);
  const head = headOf(start, maxLineCharacters);
  return `${head}... <line cut: ${length - head.length} more of its ${length} chars>`;
}

function show(path: string, offset: number, lines: LineWindow, complete: boolean): string {
  const count = lines.count();
  if (count === 0) return `${path} is empty`;
  const { shown } = lines;
  if (shown.length === 0) return `offset ${offset} is beyond the end of ${path} (${plural(count, "line")})`;
  const next = offset + shown.length;
  const left = count - next + 1;
  if (complete && left === 0) return shown.join("\n");
  return [
    ...shown,
    `... ${complete ? plural(left, "more line") : "more lines follow"}; go on with offset ${next}`,
  ].join("\n");
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
