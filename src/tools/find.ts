// Finds files and folders by name or path.
import * as z from "zod/mini";
import { defineTool } from "./define-tool.ts";
import description from "./find.md" with { type: "text" };
import { toFileError } from "./regular-file.ts";
import { createNotes } from "./search/notes.ts";
import { createPathFilter } from "./search/path-filter.ts";
import { createPauses, searchTimeMs, withTimeLimit } from "./search/pauses.ts";
import { findRoot, isDenied, type SearchRoot, searching, searchPath } from "./search/search-root.ts";
import { type TreeEntry, walkTree } from "./search/walk.ts";
import { type ToolContext, toolError } from "./tool.ts";

const defaultLimit = 1000;
const maxLimit = 20_000;
const maxPatternCharacters = 1000;
/** Characters that are left for the notes. */
const notesReserve = 1500;

const input = z.strictObject({
  pattern: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(maxPatternCharacters),
      z.describe("A glob for names (`*.ts`) or, with a slash, for paths (`src/**/*.test.ts`)"),
    ),
  path: searchPath("The folder to search"),
  limit: z.optional(z.int().check(z.minimum(1), z.describe(`The most paths to show (default ${defaultLimit})`))),
});
type Input = z.infer<typeof input>;

export const find = createFind(searchTimeMs);

export function createFind(timeLimitMs: number) {
  return defineTool({
    ...searching,
    name: "find",
    description,
    input,
    run: async (request, context) => ({ text: await search(request, context, timeLimitMs) }),
  });
}

async function search({ pattern, path = ".", limit }: Input, context: ToolContext, timeLimitMs: number) {
  const most = Math.min(limit ?? defaultLimit, maxLimit);
  const notes = createNotes();
  const shown: string[] = [];
  let characters = context.maxOutput - notesReserve;
  let count = 0;

  function add(root: SearchRoot, entry: TreeEntry): void {
    const line = `${root.show(entry.path)}${entry.kind === "folder" ? "/" : ""}`;
    count++;
    if (shown.length < count - 1 || shown.length >= most || line.length >= characters) return;
    characters -= line.length + 1;
    shown.push(line);
  }

  const inTime = await withTimeLimit(timeLimitMs, context.signal, async (signal) => {
    const root = await findRoot(context, path);
    if (!root.isFolder) throw toolError(`${path} is a file, not a folder`);
    const filter = createPathFilter(pattern, root);
    const pauses = createPauses(signal);
    const onUnreadable = (below: string, error: unknown) => notes.unreadable(root.show(below), error);
    try {
      for await (const entry of walkTree(root, { includeHidden: filter.wantsHidden, onUnreadable, signal })) {
        if (pauses.isDue()) await pauses.take();
        if (!filter.accepts(entry)) continue;
        if (isDenied(root, entry.path, "find", context)) notes.denied(1);
        else add(root, entry);
      }
    } catch (error) {
      throw await toFileError(error, "read", context.cwd, path);
    }
  });
  if (count > shown.length) notes.add(`${count - shown.length} more; narrow it with path or a longer pattern`);
  if (!inTime) notes.add(`stopped after ${timeLimitMs / 1000} s; this is what was found until then`);
  const nothing = `Nothing matches ${pattern} in ${path}; hidden and ignored files are skipped`;
  return [...(count > 0 ? shown : [nothing]), ...notes.lines()].join("\n");
}
