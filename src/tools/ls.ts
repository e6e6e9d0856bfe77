// Lists one folder: everything in it, with what is ignored marked as such.
import { readlink } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { defineTool } from "./define-tool.ts";
import description from "./ls.md" with { type: "text" };
import { toFileError } from "./regular-file.ts";
import { rulesAbove } from "./search/ignore-rules.ts";
import { createNotes } from "./search/notes.ts";
import { searchTimeMs, withTimeLimit } from "./search/pauses.ts";
import { findRoot, isDenied, searchPath, shownPath } from "./search/search-root.ts";
import { kindOf, sortedEntries } from "./search/walk.ts";
import { type ToolContext, toolError } from "./tool.ts";

const defaultLimit = 500;
const maxLimit = 20_000;
/** Characters that are left for the last line. */
const reserve = 100;

const input = z.strictObject({
  path: searchPath("The folder to list"),
  limit: z.optional(z.int().check(z.minimum(1), z.describe(`The most entries to show (default ${defaultLimit})`))),
});
type Input = z.infer<typeof input>;

export const ls = defineTool({
  name: "ls",
  access: "read",
  description,
  input,
  summarize: ({ path = "." }) => path,
  paths: ({ path = "." }) => [path],
  run: async (request, context) => {
    let text = "";
    const inTime = await withTimeLimit(searchTimeMs, context.signal, async (signal) => {
      text = await list(request, context, signal);
    });
    if (!inTime) throw toolError(`${request.path ?? "."} could not be listed within ${searchTimeMs / 1000} s`);
    return { text };
  },
});

async function list({ path = ".", limit }: Input, context: ToolContext, signal: AbortSignal) {
  const { cwd, maxOutput } = context;
  const root = await findRoot(context, path);
  if (!root.isFolder) throw toolError(`${path} is a file, not a folder; use read`);
  try {
    const all = await sortedEntries(root.real);
    if (all.length === 0) return `${path} is empty`;
    const names = new Set(all.map(({ name }) => name));
    const entries = all.filter(({ name }) => !isDenied(root, name, "ls", context));
    const notes = createNotes();
    notes.denied(all.length - entries.length);
    const rules = await (await rulesAbove(root.top, root.real)).enter(root.real, names);
    const lines: string[] = [];
    let characters = maxOutput - reserve;
    for (const entry of entries.slice(0, Math.min(limit ?? defaultLimit, maxLimit))) {
      signal.throwIfAborted();
      const absolute = join(root.real, entry.name);
      const kind = await kindOf(entry, absolute);
      const ignored = rules.isIgnored(absolute, entry.name, kind === "folder") ? " (ignored)" : "";
      const line = `${shownPath(entry.name)}${await mark(kind, absolute)}${ignored}`;
      characters -= line.length + 1;
      if (characters < 0) break;
      lines.push(line);
    }
    const left = entries.length - lines.length;
    if (left > 0) lines.push(`... ${left} more; raise limit, or use find to narrow it`);
    return [...lines, ...notes.lines()].join("\n");
  } catch (error) {
    throw await toFileError(error, "read", cwd, path);
  }
}

async function mark(kind: Awaited<ReturnType<typeof kindOf>>, absolute: string): Promise<string> {
  if (kind === "folder") return "/";
  if (kind === "special") return " (not a regular file)";
  if (kind === "link") return ` -> ${shownPath(await readlink(absolute).catch(() => "?"))}`;
  return "";
}
