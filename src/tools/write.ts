// Writes a whole file, at once or not at all.
import * as z from "zod/mini";
import { atomicWrite } from "../util/atomic-write.ts";
import { resolvePath } from "../util/paths.ts";
import { defineTool } from "./define-tool.ts";
import { decodeUtf8, filePath, isExistingFile, readRegularFile, toFileError } from "./regular-file.ts";
import { ToolError } from "./tool.ts";
import { unifiedDiff } from "./unified-diff.ts";
import description from "./write.md" with { type: "text" };

export const write = defineTool({
  name: "write",
  access: "write",
  description,
  input: z.strictObject({
    path: filePath,
    content: z.string().check(z.describe("The whole content of the file, written exactly as given")),
  }),
  summarize: ({ path }) => path,
  paths: ({ path }) => [path],
  preview: async ({ path, content }, { cwd }) => {
    if (!(await isExistingFile(cwd, path))) return `new file\n${await unifiedDiff("/dev/null", path, "", content)}`;
    const before = await currentText(cwd, path);
    if (before === undefined)
      return `replaces a file that cannot be shown as text\n${await unifiedDiff(path, path, "", content)}`;
    return before === content ? "no change" : unifiedDiff(path, path, before, content);
  },
  run: async ({ path, content }, { cwd }) => {
    const exists = await isExistingFile(cwd, path);
    const bytes = new TextEncoder().encode(content);
    try {
      await atomicWrite(resolvePath(cwd, path), bytes);
    } catch (error) {
      throw await toFileError(error, "write", cwd, path);
    }
    const size = `${bytes.byteLength} byte${bytes.byteLength === 1 ? "" : "s"}`;
    return { text: exists ? `Wrote ${size} to ${path}` : `Created ${path} (${size})` };
  },
});

/** Undefined when the file cannot be shown as text; writing over it is possible all the same. */
async function currentText(cwd: string, path: string): Promise<string | undefined> {
  try {
    return decodeUtf8(await readRegularFile(cwd, path), path);
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}
