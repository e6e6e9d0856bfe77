// Recordings for a run: what in a request changes from place to place and day to day, and the transports that write and read them.
import { readFileSync } from "node:fs";
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
export function createSteady(cwd: string): (body: string) => string {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const folders = [
    [inJson(cwd), "<cwd>"],
    [inJson(homedir()), "<home>"],
  ] as const;
  const outputs = new RegExp(`${RegExp.escape(inJson(outputPathStart()))}\\w{6}`, "g");
  return (body) => {
    let steady = body.replace(outputs, "<outputs>");
    for (const [folder, placeholder] of folders) if (folder.length > 1) steady = steady.replaceAll(folder, placeholder);
    return steady.replace(/(\\nOperating system: )[^\\]*(\\nDate: )[^"\\]*/, "$1<os>$2<date>");
  };
}

/** Answers from the recording in `path`. Throws `AppError` `usage` or `config` when it cannot be used. */
export function loadReplay(path: string, cwd: string): Transport {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("usage", `Cannot read the recording ${path}: ${(error as Error).message}`);
  }
  return createReplayTransport(parseRecording(text, path), { paced: false, steady: createSteady(cwd) });
}
