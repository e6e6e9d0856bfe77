// Searches file contents, line by line.
import * as z from "zod/mini";
import { plural } from "../util/plural.ts";
import { defineTool } from "./define-tool.ts";
import description from "./grep.md" with { type: "text" };
import { toFileError } from "./regular-file.ts";
import { createFindings } from "./search/findings.ts";
import { createMatcher } from "./search/matcher.ts";
import { parsePattern } from "./search/pattern.ts";
import { createPauses, searchTimeMs, withTimeLimit } from "./search/pauses.ts";
import { requiredTexts } from "./search/required-texts.ts";
import { findRipgrep } from "./search/ripgrep.ts";
import { searchNamedFile, searchTree } from "./search/search-files.ts";
import { findRoot, isDenied, searching, searchPath } from "./search/search-root.ts";
import type { ToolContext } from "./tool.ts";

const defaultLimit = 100;
const maxLimit = 2000;
const maxContext = 50;
const maxPatternCharacters = 5000;

const input = z.strictObject({
  pattern: z
    .string()
    .check(z.minLength(1), z.maxLength(maxPatternCharacters), z.describe("A regular expression, as ripgrep takes it")),
  path: searchPath("The folder or file to search"),
  glob: z.optional(
    z.string().check(z.minLength(1), z.describe("Only these files, such as `*.ts` or `src/**`; `!` in front excludes")),
  ),
  ignore_case: z.optional(z.boolean().check(z.describe("Take upper and lower case as the same"))),
  literal: z.optional(z.boolean().check(z.describe("Take the pattern as plain text"))),
  context: z.optional(z.int().check(z.minimum(0), z.describe("Lines to show around each match (default 0)"))),
  limit: z.optional(
    z.int().check(z.minimum(1), z.describe(`The most matching lines to show (default ${defaultLimit})`)),
  ),
});
type Input = z.infer<typeof input>;

export const grep = createGrep(searchTimeMs);

export function createGrep(timeLimitMs: number) {
  return defineTool({
    ...searching,
    name: "grep",
    description,
    input,
    run: async (request, context) => ({ text: await search(request, context, timeLimitMs) }),
  });
}

async function search(request: Input, context: ToolContext, timeLimitMs: number): Promise<string> {
  const { pattern, path = ".", glob, ignore_case: ignoreCase = false, literal = false } = request;
  const parsed = parsePattern(pattern, { ignoreCase, literal });
  const matcher = createMatcher(parsed);
  const limit = Math.min(request.limit ?? defaultLimit, maxLimit);
  const findings = createFindings(limit, Math.min(request.context ?? 0, maxContext), context.maxOutput);

  const inTime = await withTimeLimit(timeLimitMs, context.signal, async (signal) => {
    const root = await findRoot(context, path);
    const pauses = createPauses(signal);
    const required = requiredTexts(parsed);
    const job = {
      root,
      matcher,
      required,
      findings,
      pauses,
      signal,
      isDenied: (below: string) => isDenied(root, below, "grep", context),
    };
    try {
      if (root.isFolder) await searchTree(job, glob, findRipgrep(context.env, context.cwd));
      else await searchNamedFile(job, context, path);
    } catch (error) {
      throw await toFileError(error, "read", context.cwd, path);
    }
  });
  if (!inTime) findings.notes.add(`stopped after ${timeLimitMs / 1000} s; this is what was found until then`);
  return findings.text(() => nothingFound(request, findings.searched(), inTime));
}

function nothingFound({ pattern, path = ".", glob, literal }: Input, searched: number, inTime: boolean): string {
  const where = `${path}${glob === undefined ? "" : ` (glob ${glob})`}`;
  if (searched === 0 && inTime) return `No files to search in ${where}; hidden and ignored files are skipped`;
  const hint =
    !literal && /\\[|(){}+?]/.test(pattern) ? "; note that \\| \\( \\{ \\+ stand for these characters themselves" : "";
  return `No matches in ${where} (${plural(searched, "file")} searched)${hint}`;
}
