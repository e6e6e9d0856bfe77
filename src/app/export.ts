// Writes a session as a page to read, whole or not at all, for its owner's eyes alone.
import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type PageSource, pageMark, renderPage } from "../export/page.ts";
import { loadSession } from "../session/read.ts";
import type { Session } from "../session/session.ts";
import { AppError } from "../util/error.ts";
import { realTarget, resolvePath } from "../util/paths.ts";
import { writePrivateFile } from "../util/private-file.ts";

export interface ExportedPage {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
}

/** The page of a session file. Throws `AppError` `session` when it cannot be read, `output` when the page cannot be written. */
export async function exportSession(path: string, outfile: string): Promise<ExportedPage> {
  const { header, entries, badLines } = loadSession(path);
  const id = header?.id ?? basename(path, ".jsonl");
  const leafId = entries.at(-1)?.id ?? null;
  return writePage({ id, cwd: header?.cwd ?? "", entries, leafId, badLines }, outfile);
}

/** The page of a session that is open, at its leaf; the name of the file is made from its id if not given. */
export async function exportOpenSession(session: Session, outfile?: string): Promise<ExportedPage> {
  const { id, cwd } = session;
  const source = { id, cwd, entries: session.entries(), leafId: session.leafId() };
  return writePage(source, outfile ?? pageName(id));
}

/** The name of a session's page where none is given. */
export function pageName(sessionId: string): string {
  return `${sessionId.replace(/[^\w.-]/g, "_").replace(/^[.-]+/, "")}.html`;
}

/** `outfile` is relative to the working directory. */
function writePage(source: PageSource, outfile: string): ExportedPage {
  try {
    const path = realTarget(resolvePath(process.cwd(), outfile));
    checkTarget(path);
    writePrivateFile(path, inLargePieces(renderPage(source)));
    return { path, bytes: statSync(path).size };
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("output", `Cannot write ${outfile}: ${(error as Error).message}`, { cause: error });
  }
}

/** A slip of the hand must cost no other file: only a page of ours is written over. */
function checkTarget(path: string): void {
  if (!statIfThere(dirname(path))?.isDirectory()) throw new AppError("output", `There is no folder ${dirname(path)}`);
  const existing = statIfThere(path);
  if (!existing) return;
  if (existing.isDirectory()) {
    throw new AppError("output", `${path} is a folder`, { hint: "Name the file to write in it." });
  }
  if (!existing.isFile() || !(existing.size === 0 || beginsWith(path, pageMark))) {
    throw new AppError("output", `${path} is there already, and no exported session`, { hint: "Name another file." });
  }
}

function statIfThere(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function beginsWith(path: string, text: string): boolean {
  const head = Buffer.alloc(text.length);
  const file = openSync(path, "r");
  try {
    return readSync(file, head, 0, head.length, 0) === head.length && head.toString("latin1") === text;
  } finally {
    closeSync(file);
  }
}

const pieceUnits = 100_000;

/** Many small pieces as few large ones. */
function* inLargePieces(pieces: Iterable<string>): Generator<string> {
  let buffer = "";
  for (const piece of pieces) {
    buffer += piece;
    if (buffer.length < pieceUnits) continue;
    yield buffer;
    buffer = "";
  }
  yield buffer;
}
