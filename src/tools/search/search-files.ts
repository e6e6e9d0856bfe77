// Searches the contents of a named file, or of a tree's files in their order. Which files are searched and which lines match is decided
// here alone; ripgrep, where there is one, only spares the reading of files that cannot match.
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { openRegularFile, type Where } from "../regular-file.ts";
import { toolError } from "../tool.ts";
import type { Findings } from "./findings.ts";
import { inOrder } from "./in-order.ts";
import { type LinePieces, piecesOfBytes, piecesOfFile } from "./line-pieces.ts";
import type { Matcher } from "./matcher.ts";
import { createPathFilter } from "./path-filter.ts";
import type { Pauses } from "./pauses.ts";
import { openPlainFile, readPlainFile } from "./plain-file.ts";
import type { RequiredTexts } from "./required-texts.ts";
import type { FirstLook } from "./ripgrep.ts";
import { linesNumbered, matchingLines } from "./scan-lines.ts";
import type { SearchRoot } from "./search-root.ts";
import { walkTree } from "./walk.ts";

export interface Search {
  readonly root: SearchRoot;
  readonly matcher: Matcher;
  readonly required: RequiredTexts | undefined;
  readonly findings: Findings;
  readonly pauses: Pauses;
  readonly signal: AbortSignal;
  /** Whether a rule keeps a file, by its path below the root, from being searched. */
  readonly isDenied: (path: string) => boolean;
}

/** Larger files are searched piece by piece. */
const smallFileBytes = 1024 * 1024;
const filesAtOnce = 16;
/** How many files go through the steps together: few at first, as the first matches may be enough. */
const firstBatchFiles = 250;
const maxBatchFiles = 8000;
/** The characters of their names, which are arguments of one command. */
const maxBatchCharacters = 250_000;
/** A file with a NUL among its first bytes is taken for binary. */
const binaryBytes = 64 * 1024;

/** A file that was named is searched even when it is hidden or ignored. Throws `ToolError` when it is binary. */
export async function searchNamedFile(search: Search, where: Where, path: string): Promise<void> {
  const file = await openRegularFile(where, path);
  try {
    if (await startsBinary(file)) throw toolError(`${path} is a binary file; use bash with grep -a`);
    search.findings.countSearched(1);
    await searchPieces(search, "", piecesOfFile(file));
  } finally {
    await file.close();
  }
}

export async function searchTree(
  search: Search,
  glob: string | undefined,
  firstLook: FirstLook | undefined,
): Promise<void> {
  const { root, required, findings, signal } = search;
  for await (const files of batches(search, glob)) {
    const mayMatch = firstLook && required ? await firstLook(root.real, files, required, signal) : files;
    findings.countSearched(files.length);
    await searchFiles(search, mayMatch);
    if (findings.isFull()) return;
  }
}

/** The tree's files that are to be searched, some at a time. */
async function* batches(
  { root, findings, signal, isDenied }: Search,
  glob: string | undefined,
): AsyncGenerator<string[]> {
  const filter = glob === undefined ? undefined : createPathFilter(glob.endsWith("/") ? `${glob}**` : glob, root);
  const entries = walkTree(root, {
    includeHidden: filter?.wantsHidden ?? false,
    onUnreadable: (path, error) => findings.notes.unreadable(root.show(path), error),
    signal,
  });
  let batch: string[] = [];
  let characters = 0;
  let most = firstBatchFiles;
  for await (const entry of entries) {
    if (entry.kind !== "file" || filter?.accepts(entry) === false) continue;
    if (isDenied(entry.path)) {
      findings.notes.denied(1);
      continue;
    }
    batch.push(entry.path);
    characters += entry.path.length;
    if (batch.length < most && characters < maxBatchCharacters) continue;
    yield batch;
    most = Math.min(2 * most, maxBatchFiles);
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

async function searchFiles(search: Search, files: readonly string[]): Promise<void> {
  const { root, findings, pauses } = search;
  const read = (path: string) => readPlainFile(join(root.real, path), smallFileBytes);
  for await (const [path, bytes] of inOrder(files, filesAtOnce, read)) {
    if (bytes instanceof Error) findings.notes.unreadable(root.show(path), bytes);
    else if (!bytes) await searchLargeFile(search, path);
    else if (!isBinary(bytes)) await searchPieces(search, path, piecesOfBytes(bytes));
    if (findings.isFull()) return;
    if (pauses.isDue()) await pauses.take();
  }
}

async function searchLargeFile(search: Search, path: string): Promise<void> {
  const { root, findings, signal } = search;
  let file: FileHandle | undefined;
  try {
    file = await openPlainFile(join(root.real, path));
    if (!(await file.stat()).isFile() || (await startsBinary(file))) return;
    await searchPieces(search, path, piecesOfFile(file));
  } catch (error) {
    signal.throwIfAborted();
    findings.notes.unreadable(root.show(path), error);
  } finally {
    await file?.close();
  }
}

async function searchPieces({ root, matcher, required, findings, pauses }: Search, path: string, pieces: LinePieces) {
  const matches = await matchingLines(pieces, {
    matcher,
    requiredBytes: required?.ignoreCase === false ? required.texts.map((text) => Buffer.from(text)) : undefined,
    pauses,
    most: findings.wanted(),
  });
  if (matches.length === 0) return;
  const around = findings.around(matches);
  findings.add(root.show(path), matches, around.size > 0 ? await linesNumbered(pieces, around) : []);
}

async function startsBinary(file: FileHandle): Promise<boolean> {
  const buffer = Buffer.allocUnsafe(binaryBytes);
  const { bytesRead } = await file.read(buffer, 0, binaryBytes, 0);
  return isBinary(buffer.subarray(0, bytesRead));
}

function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, binaryBytes).includes(0);
}
