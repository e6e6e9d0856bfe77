// Writes a whole file, at once or not at all.
import * as z from "zod/mini";
import { resolvePath } from "../util/paths.ts";
import { plural } from "../util/plural.ts";
import { changedOnDisk, commitFile } from "./commit-file.ts";
import { defineTool } from "./define-tool.ts";
import { stampFile } from "./file-stamp.ts";
import { decodeUtf8, exactText, filePath, isExistingFile, readRegularFile, realPath } from "./regular-file.ts";
import { ToolError } from "./tool.ts";
import { unifiedDiff } from "./unified-diff.ts";
import description from "./write.md" with { type: "text" };

export const write = defineTool({
  name: "write",
  access: "write",
  description,
  input: z.strictObject({
    path: filePath,
    content: exactText.check(z.describe("The whole content of the file, written exactly as given")),
  }),
  summarize: ({ path }) => path,
  paths: ({ path }) => [path],
  preview: async ({ path, content }, { cwd, files }) => {
    if (!(await isExistingFile(cwd, path))) return `new file\n${await unifiedDiff("/dev/null", path, "", content)}`;
    const seen = files.lastSeen(await realPath(cwd, path));
    if (seen !== undefined && seen !== (await stampFile(resolvePath(cwd, path)))) throw changedOnDisk(path);
    const before = await currentText(cwd, path);
    if (before === undefined)
      return `replaces a file that cannot be shown as text\n${await unifiedDiff(path, path, "", content)}`;
    return before === content ? "no change" : unifiedDiff(path, path, before, content);
  },
  run: async ({ path, content }, context) => {
    const exists = await isExistingFile(context.cwd, path);
    const seen = context.files.lastSeen(await realPath(context.cwd, path));
    const bytes = new TextEncoder().encode(content);
    await commitFile(context, path, bytes, exists ? (seen === undefined ? "any" : { stamp: seen }) : "absent");
    const size = plural(bytes.byteLength, "byte");
    return { text: exists ? `Wrote ${size} to ${path}` : `Created ${path} (${size})` };
  },
});

/** Undefined when the file cannot be shown as text; writing over it is possible all the same. */
async function currentText(cwd: string, path: string): Promise<string | undefined> {
  try {
    return decodeUtf8(await readRegularFile({ cwd }, path), path);
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}
