// The last step of `write` and `edit`: the new content takes the old one's place, unless somebody else was faster.
import { replaceFile } from "../util/atomic-write.ts";
import { realTarget, resolvePath } from "../util/paths.ts";
import type { FileStamp } from "./file-memory.ts";
import { stampFile, stampOf } from "./file-stamp.ts";
import { checkJudged, toFileError } from "./regular-file.ts";
import { type ToolContext, type ToolError, toolError } from "./tool.ts";

/** What the file has to be until it is written: in a state that was seen, not there, or anything. */
export type Expected = { readonly stamp: FileStamp } | "absent" | "any";

/** Writes the file and remembers it as seen; throws `ToolError` when it is not as `expected`, looked at right before the new content appears. */
export async function commitFile(
  { cwd, files, signal, isJudged }: Pick<ToolContext, "cwd" | "files" | "signal" | "isJudged">,
  path: string,
  content: Uint8Array,
  expected: Expected,
): Promise<void> {
  try {
    const target = realTarget(resolvePath(cwd, path));
    checkJudged(target, path, isJudged);
    await replaceFile(target, content, {
      async beforeCommit(held) {
        if (expected !== "any") await checkExpected(held, path, expected);
        signal.throwIfAborted();
      },
    });
    files.saw(target, stampOf(content));
  } catch (error) {
    throw await toFileError(error, "write", cwd, path);
  }
}

async function checkExpected(target: string, path: string, expected: Exclude<Expected, "any">): Promise<void> {
  const stamp = await stampFile(target);
  if (expected === "absent") {
    if (stamp !== undefined) throw toolError(`${path} has just been created by somebody else; read it first`);
  } else if (stamp !== expected.stamp) {
    throw changedOnDisk(path);
  }
}

export function changedOnDisk(path: string): ToolError {
  return toolError(`${path} changed on disk since you last read it; read it again`);
}
