// Shows a window of a text file with line numbers, in one pass and bounded memory; images go to models that take them.
import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import * as z from "zod/mini";
import { windowFrom } from "../util/line-window.ts";
import { plural } from "../util/plural.ts";
import { defineTool } from "./define-tool.ts";
import type { FileStamp } from "./file-memory.ts";
import { createStamper, maxStampedBytes, stampLarge, stampOf } from "./file-stamp.ts";
import { imageHeadBytes, imageKind, showImage } from "./image.ts";
import description from "./read.md" with { type: "text" };
import { filePath, notUtf8, openRegularFile, readWhole, realPath, toFileError } from "./regular-file.ts";
import { toolError } from "./tool.ts";

const defaultLimit = 2000;
/** The most lines of one call, whatever limit was asked for; the last line says where to go on. */
const maxLimit = 50_000;
/** As much of a line as is shown by itself, and as is shown of the one that was asked for from a column on. */
const maxLineCharacters = 2000;
const maxColumnCharacters = 20_000;
/** Room in the result for the words about what is not shown. */
const noteCharacters = 200;
const chunkBytes = 256 * 1024;

export const read = defineTool({
  name: "read",
  access: "read",
  description,
  input: z.strictObject({
    path: filePath,
    offset: z.optional(z.int().check(z.minimum(1), z.describe("The first line to show, counted from 1 (default 1)"))),
    limit: z.optional(
      z
        .int()
        .check(z.minimum(1), z.describe(`How many lines to show (default ${defaultLimit}; 1 when column is given)`)),
    ),
    column: z.optional(
      z.int().check(z.minimum(1), z.describe("Start the first line at this character, to go on inside a long line")),
    ),
  }),
  summarize: ({ path }) => path,
  paths: ({ path }) => [path],
  run: async ({ path, offset = 1, limit, column }, context) => {
    const { cwd, signal, maxOutput, files, acceptsImages } = context;
    const real = await realPath(cwd, path);
    const file = await openRegularFile(context, path);
    try {
      const kind = await kindOf(file);
      if (kind !== undefined) {
        const bytes = await readWhole(file, path);
        if (!isText(bytes)) {
          files.saw(real, stampOf(bytes));
          return await showImage(path, bytes, kind, acceptsImages);
        }
      }
      const { size } = await file.stat();
      const isLarge = size > maxStampedBytes;
      if (isLarge && limit === undefined && column === undefined) {
        throw toolError(`${path} is very large (${size} bytes); give offset and limit, or use bash with grep`);
      }
      const largeStamp = isLarge ? await stampLarge(file) : undefined;
      const lines = createLineWindow({
        offset,
        limit: Math.min(limit ?? (column === undefined ? defaultLimit : 1), maxLimit),
        column,
        budget: Math.max(1, maxOutput - noteCharacters),
      });
      const { complete, stamp } = await scan(file, path, lines, signal);
      files.saw(real, largeStamp ?? stamp);
      return { text: show(path, offset, column, lines, complete) };
    } catch (error) {
      throw await toFileError(error, "read", cwd, path);
    } finally {
      await file.close();
    }
  },
});

async function kindOf(file: FileHandle) {
  const head = new Uint8Array(imageHeadBytes);
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  return imageKind(head.subarray(0, bytesRead));
}

/** A text may begin as an image does (`GIF89a`), but no image is UTF-8 without a NUL. */
function isText(bytes: Uint8Array): boolean {
  return !bytes.includes(0) && isUtf8(bytes);
}

interface Scanned {
  /** False when it stopped before the end, with the window full and more read than is worth counting. */
  readonly complete: boolean;
  /** Of what was read. */
  readonly stamp: FileStamp;
}

/** Feeds the file to `lines`. */
async function scan(file: FileHandle, path: string, lines: LineWindow, signal: AbortSignal): Promise<Scanned> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (bytes?: Uint8Array) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch {
      throw notUtf8(path);
    }
  };
  const stamper = createStamper();
  const buffer = new Uint8Array(chunkBytes);
  let total = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, buffer.length, total);
    if (bytesRead === 0) break;
    const bytes = buffer.subarray(0, bytesRead);
    if (total <= maxStampedBytes) stamper.add(bytes);
    lines.add(decode(bytes));
    total += bytesRead;
    if (total > maxStampedBytes && lines.isFull()) return { complete: false, stamp: stamper.stamp() };
  }
  lines.add(decode());
  lines.end();
  return { complete: true, stamp: stamper.stamp() };
}

interface WindowOptions {
  /** The first line, from 1, and how many. */
  readonly offset: number;
  readonly limit: number;
  /** Where the first line starts to be shown, from 1. */
  readonly column?: number | undefined;
  /** The most characters that all lines together may take. */
  readonly budget: number;
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
  /** The length of the window's first line. */
  firstLength(): number;
}

function createLineWindow({ offset, limit, column, budget }: WindowOptions): LineWindow {
  const shown: string[] = [];
  let full = false;
  let left = budget;
  let count = 0;
  let firstLength = 0;
  /** The current line: the part that may be shown (and one unit on either side of it), its length, and its last unit. */
  let part = "";
  let length = 0;
  let last = "";

  const isInWindow = () => !full && count + 1 >= offset;
  const isFirst = () => count + 1 === offset;
  /** How much of the current line is passed over, and how much is shown at most. */
  const skipped = () => (isFirst() ? (column ?? 1) - 1 : 0);
  const most = () => Math.min(isFirst() && column !== undefined ? maxColumnCharacters : maxLineCharacters, budget);

  function extend(piece: string): void {
    if (piece === "") return;
    if (isInWindow()) {
      const start = Math.max(0, skipped() - 1);
      const end = skipped() + most() + 1;
      if (length < end) part += piece.slice(Math.max(0, start - length), end - length);
    }
    length += piece.length;
    last = piece.charAt(piece.length - 1);
  }

  function finish(): void {
    const visibleLength = last === "\r" ? length - 1 : length;
    if (isInWindow()) {
      if (isFirst()) firstLength = visibleLength;
      const line = `${String(count + 1).padStart(6)}\t${shownPart(visibleLength)}`;
      full = shown.length > 0 && line.length + 1 > left;
      if (!full) {
        shown.push(line);
        left -= line.length + 1;
        full = shown.length >= limit;
      }
    }
    count++;
    part = "";
    length = 0;
    last = "";
  }

  function shownPart(visibleLength: number): string {
    const before = Math.max(0, skipped() - 1);
    const visible = part.slice(0, Math.max(0, visibleLength - before));
    const { text, to } = windowFrom(visible, skipped() - before, most());
    const end = before + to;
    if (end >= visibleLength) return text;
    const where = `go on with offset ${count + 1}, column ${end + 1}`;
    return `${text}... <line cut: ${visibleLength - end} more of its ${visibleLength} chars; ${where}>`;
  }

  return {
    shown,
    count: () => count,
    firstLength: () => firstLength,
    isFull: () => full,
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

function show(path: string, offset: number, column: number | undefined, lines: LineWindow, complete: boolean): string {
  const count = lines.count();
  if (count === 0) return `${path} is empty`;
  const { shown } = lines;
  if (shown.length === 0) return `offset ${offset} is beyond the end of ${path} (${plural(count, "line")})`;
  if (column !== undefined && column > Math.max(1, lines.firstLength())) {
    return `column ${column} is beyond the end of line ${offset} of ${path} (${plural(lines.firstLength(), "char")})`;
  }
  const next = offset + shown.length;
  const left = count - next + 1;
  if (complete && left === 0) return shown.join("\n");
  return [
    ...shown,
    `... ${complete ? plural(left, "more line") : "more lines follow"}; go on with offset ${next}`,
  ].join("\n");
}
