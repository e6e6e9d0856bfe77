// Replaces pieces of text in a file, all of them or none; every byte outside them stays as it is.
import * as z from "zod/mini";
import { changedOnDisk, commitFile } from "./commit-file.ts";
import { defineTool } from "./define-tool.ts";
import description from "./edit.md" with { type: "text" };
import type { FileStamp } from "./file-memory.ts";
import { stampOf } from "./file-stamp.ts";
import { nearestLines } from "./nearest-lines.ts";
import { decodeUtf8, exactText, filePath, readRegularFile, realPath } from "./regular-file.ts";
import { isSameText, type Replaced, type Replacement, replaceText } from "./replace-text.ts";
import { type ToolContext, toolError } from "./tool.ts";
import { unifiedDiff } from "./unified-diff.ts";

const newString = exactText.check(z.describe("The text to put in its place, taken literally"));
const replaceAll = z.optional(z.boolean().check(z.describe("Replace every occurrence (default: it must occur once)")));

const byteOrderMark = "\ufeff";

export const edit = defineTool({
  name: "edit",
  access: "write",
  description,
  // Which of the two forms it is cannot be said in a schema that every provider takes, so `toReplacements` looks after that.
  input: z.strictObject({
    path: filePath,
    old_string: z.optional(
      exactText.check(z.describe("For one edit: the text to replace, exactly as it stands in the file")),
    ),
    new_string: z.optional(newString),
    replace_all: replaceAll,
    edits: z.optional(
      z
        .array(
          z.strictObject({
            old_string: exactText.check(
              z.minLength(1),
              z.describe("The text to replace, exactly as it stands in the file now"),
            ),
            new_string: newString,
            replace_all: replaceAll,
          }),
        )
        .check(
          z.describe("For several edits of the file, instead of old_string and new_string: all are made, or none"),
        ),
    ),
  }),
  summarize: ({ path }) => path,
  paths: ({ path }) => [path],
  preview: async (input, context) => {
    const { before, after } = await plan(input, context);
    return unifiedDiff(input.path, input.path, before, after);
  },
  run: async (input, context) => {
    const { path } = input;
    const { after, mark, stamp, lines } = await plan(input, context);
    await commitFile(context, path, new TextEncoder().encode(mark + after), { stamp });
    const [first] = lines;
    return {
      text:
        lines.length === 1
          ? `Edited ${path} at line ${first}`
          : `Edited ${path} in ${lines.length} places, the first at line ${first}`,
    };
  },
});

interface OneEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

interface EditInput extends Partial<{ [Field in keyof OneEdit]: OneEdit[Field] | undefined }> {
  readonly path: string;
  readonly edits?: readonly OneEdit[] | undefined;
}

interface Plan {
  /** The text without its byte order mark, as `read` shows it. */
  readonly before: string;
  readonly after: string;
  readonly mark: "" | typeof byteOrderMark;
  /** The state of the file that this is planned for. */
  readonly stamp: FileStamp;
  /** The line, counted from 1, of each place, ascending. */
  readonly lines: readonly number[];
}

/** What the call would do; throws `ToolError` when it cannot be done. */
async function plan(input: EditInput, context: Pick<ToolContext, "cwd" | "files" | "isJudged">): Promise<Plan> {
  const { path } = input;
  const { cwd, files, isJudged } = context;
  const replacements = toReplacements(input);
  const bytes = await readRegularFile({ cwd, isJudged }, path);
  const text = decodeUtf8(bytes, path);
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : "";
  const before = text.slice(mark.length);
  const stamp = stampOf(bytes);
  const seen = files.lastSeen(await realPath(cwd, path));
  if (seen !== undefined && seen !== stamp) throw changedOnDisk(path);
  const replaced = replaceText(before, replacements);
  const problems = findProblems(path, before, replacements, replaced);
  if (problems.length > 0) throw toolError(inWords(problems, input.edits !== undefined && input.edits.length > 0));
  return { before, after: replaced.text, mark, stamp, lines: replaced.lines.flat().sort((a, b) => a - b) };
}

/** The edits of either form of the arguments. */
function toReplacements({ old_string, new_string, replace_all = false, edits = [] }: EditInput): Replacement[] {
  // A model that fills in every field leaves those of the other form empty.
  const isOne = Boolean(old_string) || Boolean(new_string);
  if (isOne && edits.length > 0) {
    throw toolError("give either old_string and new_string, or edits, not both");
  }
  if (edits.length > 0) {
    return edits.map((one) => ({
      wanted: one.old_string,
      replacement: one.new_string,
      all: one.replace_all ?? replace_all,
    }));
  }
  if (old_string === undefined && new_string === undefined) {
    throw toolError("give old_string and new_string, or edits with at least one { old_string, new_string }");
  }
  if (old_string === undefined) throw toolError("'old_string' is missing");
  if (new_string === undefined) throw toolError("'new_string' is missing");
  if (old_string === "") throw toolError("'old_string' must not be empty; to write a whole file use write");
  return [{ wanted: old_string, replacement: new_string, all: replace_all }];
}

interface Problem {
  /** Of the edit, from 0; undefined where it is about more than one. */
  readonly index?: number;
  readonly text: string;
}

function findProblems(
  path: string,
  before: string,
  replacements: readonly Replacement[],
  { lines, overlap }: Replaced,
): Problem[] {
  const problems = replacements.flatMap((replacement, index): Problem[] => {
    const text = problemOf(path, before, replacement, lines[index] ?? []);
    return text === undefined ? [] : [{ index, text }];
  });
  if (overlap && problems.length === 0) {
    const [first, second] = overlap;
    problems.push({ text: `edits ${first + 1} and ${second + 1} overlap; make one edit of them` });
  }
  return problems;
}

function problemOf(
  path: string,
  before: string,
  { wanted, replacement, all }: Replacement,
  lines: readonly number[],
): string | undefined {
  if (wanted === replacement) return "old_string and new_string are the same";
  if (isSameText(wanted, replacement)) {
    return "old_string and new_string differ in line endings only, and edit keeps those of the file";
  }
  if (lines.length === 0) return `old_string is not in ${path}${hint(before, wanted)}`;
  if (lines.length === 1 || all) return undefined;
  const distinct = [...new Set(lines)];
  return (
    `old_string occurs ${lines.length} times in ${path} (lines ${distinct.slice(0, 10).join(", ")}${distinct.length > 10 ? ", …" : ""}); ` +
    "add surrounding lines to make it unique, or set replace_all"
  );
}

function inWords(problems: readonly Problem[], severalAsked: boolean): string {
  if (!severalAsked) return problems.map(({ text }) => text).join("\n");
  const all = problems.map(({ index, text }) => (index === undefined ? text : `edit ${index + 1}: ${text}`));
  return `no edit was made:${all.length > 1 ? "\n" : " "}${all.join("\n")}`;
}

function hint(text: string, wanted: string): string {
  const nearest = nearestLines(text, wanted);
  if (nearest.length === 0) return "";
  return `. Nearest lines:\n${nearest.map(({ number, text }) => `${String(number).padStart(6)}\t${text}`).join("\n")}`;
}
