// Replaces a piece of text in a file; every byte outside it stays as it is.
import * as z from "zod/mini";
import { atomicWrite } from "../util/atomic-write.ts";
import { resolvePath } from "../util/paths.ts";
import { defineTool } from "./define-tool.ts";
import description from "./edit.md" with { type: "text" };
import { nearestLines } from "./nearest-lines.ts";
import { decodeUtf8, filePath, readRegularFile, toFileError } from "./regular-file.ts";
import { replaceText } from "./replace-text.ts";
import { toolError } from "./tool.ts";
import { unifiedDiff } from "./unified-diff.ts";

export const edit = defineTool({
  name: "edit",
  access: "write",
  description,
  input: z.strictObject({
    path: filePath,
    old_string: z.string().check(z.minLength(1), z.describe("The text to replace, exactly as it stands in the file")),
    new_string: z.string().check(z.describe("The text to put in its place, taken literally")),
    replace_all: z.optional(z.boolean().check(z.describe("Replace every occurrence (default: it must occur once)"))),
  }),
  summarize: ({ path }) => path,
  paths: ({ path }) => [path],
  preview: async (input, { cwd }) => {
    const { before, after } = await plan(input, cwd);
    return unifiedDiff(input.path, input.path, before, after);
  },
  run: async (input, { cwd }) => {
    const { path } = input;
    const { after, lines } = await plan(input, cwd);
    try {
      await atomicWrite(resolvePath(cwd, path), new TextEncoder().encode(after));
    } catch (error) {
      throw await toFileError(error, "write", cwd, path);
    }
    const [first] = lines;
    return {
      text:
        lines.length === 1
          ? `Edited ${path} at line ${first}`
          : `Edited ${path} in ${lines.length} places, the first at line ${first}`,
    };
  },
});

interface EditInput {
  readonly path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

interface Plan {
  readonly before: string;
  readonly after: string;
  /** The line, counted from 1, of each place. */
  readonly lines: readonly number[];
}

/** What the edit would do; throws `ToolError` when it cannot be done. */
async function plan({ path, old_string, new_string, replace_all = false }: EditInput, cwd: string): Promise<Plan> {
  if (old_string === new_string) throw toolError("old_string and new_string are the same");
  const before = decodeUtf8(await readRegularFile(cwd, path), path);
  const { text: after, lines } = replaceText(before, old_string, new_string, replace_all);
  if (lines.length === 0) throw toolError(`old_string is not in ${path}${hint(before, old_string)}`);
  if (lines.length > 1 && !replace_all) {
    throw toolError(
      `old_string occurs ${lines.length} times in ${path} (lines ${lines.slice(0, 10).join(", ")}${lines.length > 10 ? ", …" : ""}); ` +
        "add surrounding lines to make it unique, or set replace_all",
    );
  }
  if (after === before)
    throw toolError("old_string and new_string differ in line endings only, and edit keeps those of the file");
  return { before, after, lines };
}

function hint(text: string, wanted: string): string {
  const nearest = nearestLines(text, wanted);
  if (nearest.length === 0) return "";
  return `. Nearest lines:\n${nearest.map(({ number, text }) => `${String(number).padStart(6)}\t${text}`).join("\n")}`;
}
