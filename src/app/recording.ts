// Recordings for a run: what in a request changes from place to place and day to day, and the transports that write and read them.
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import type { Transport } from "../providers/http.ts";
import { createReplayTransport } from "../providers/replay/index.ts";
import { parseRecording } from "../providers/replay/recording.ts";
import { AppError } from "../util/error.ts";
import { outputPathStart } from "../util/output-folder.ts";

/**
 * Puts placeholders for the working directory, the home directory, the folder of long outputs and the prompt's lines about system and date,
 * so that a recording made here today answers there tomorrow. Works on JSON text.
 */
export function createSteady(cwd: string, home = homedir()): (body: string) => string {
  const here = toFolderPattern(cwd);
  const atHome = toFolderPattern(home);
  const outputs = new RegExp(`${RegExp.escape(inJson(outputPathStart()))}\\w{6}`, "g");
  return (body) =>
    body
      .replace(outputs, "<outputs>")
      .replace(here, "<cwd>")
      .replace(atHome, "<home>")
      .replace(/(\\nOperating system: )[^\\]*(\\nDate: )[^"\\]*/, "$1<os>$2<date>");
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * A folder where it stands as a whole path or as its beginning, and not as a part of longer names: `/src` neither in `./src` nor in
 * `/src-old`. In front of it there may be an escaped line end, since JSON text is searched, or an option such as `-I`.
 */
function toFolderPattern(folder: string): RegExp {
  const before = String.raw`(?<=^|[^\p{L}\p{N}_.~/\\@%+-]|\\[nrt]|:\/\/|[ "']-[A-Za-z])`;
  const behind = String.raw`(?![\p{L}\p{N}_@%+-]|\.[\p{L}\p{N}])`;
  return folder.length > 1 ? new RegExp(before + RegExp.escape(inJson(folder)) + behind, "gu") : /(?!)/;
}

/** Answers from the recording in `path`. Throws `AppError` `usage` or `config` where it cannot be used. */
export function loadReplay(path: string, cwd: string): Transport {
  let text: string;
  try {
    if (!statSync(path).isFile()) throw new Error("it is not a regular file");
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("usage", `Cannot read the recording ${path}: ${(error as Error).message}`);
  }
  return createReplayTransport(parseRecording(text, path), { paced: false, steady: createSteady(cwd) });
}
