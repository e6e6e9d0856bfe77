// `/tree`: the branches of the session, to go on from any point of it. Nothing is lost: what was left stays as a branch.
import type { Session } from "../app/sessions.ts";
import { pathTo } from "../app/sessions.ts";
import type { Entry } from "../protocol/entry.ts";
import type { Command } from "./command.ts";
import { oneLineOf, textOf } from "./entry-text.ts";

export const tree: Command = {
  name: "tree",
  summary: "Show the branches of the session and go on from any point",
  async run({ app, ui }) {
    const session = app.session();
    const rows = rowsOf(session);
    if (rows.length === 0) return { text: "Nothing has been said yet." };
    const position = await ui.pick(
      "The session, oldest first; * is the branch you are on",
      rows.map(({ text }) => text),
      // The end of a long session is what one was just at.
      "end",
    );
    const entry = position === undefined ? undefined : rows[position]?.entry;
    if (!entry) return { text: "The session stays as it is." };
    // One's own message is said again, from before it.
    const own = entry.type === "message" && entry.message.role === "user" ? entry.message : undefined;
    app.moveTo(own ? entry.parentId : entry.id);
    return {
      text: own ? "Before that message." : "Going on from there.",
      ...(own ? { input: textOf(own.content) } : {}),
      recap: true,
    };
  },
};

interface Row {
  readonly entry: Entry;
  readonly text: string;
}

/** What was said, branch by branch; those that leave the same point are indented alike. */
function rowsOf(session: Session): Row[] {
  const entries = session.entries();
  const ids = new Set(entries.map(({ id }) => id));
  const children = Map.groupBy(entries, ({ parentId }) => (parentId !== null && ids.has(parentId) ? parentId : ""));
  const current = new Set(pathTo(entries, session.leafId()));
  const rows: Row[] = [];
  // A stack instead of recursion, since a session may be long.
  const open = (children.get("") ?? []).map((entry) => ({ entry, depth: 0 })).reverse();
  for (let next = open.pop(); next; next = open.pop()) {
    const { entry, depth } = next;
    const text = describe(entry);
    if (text !== undefined)
      rows.push({ entry, text: `${current.has(entry) ? "*" : " "} ${"  ".repeat(depth)}${text}` });
    const following = children.get(entry.id) ?? [];
    const deeper = depth + (following.length > 1 ? 1 : 0);
    open.push(...following.map((child) => ({ entry: child, depth: deeper })).reverse());
  }
  return rows;
}

function describe(entry: Entry): string | undefined {
  if (entry.type === "compaction") return `[compacted] ${oneLineOf(entry.summary)}`;
  if (entry.type === "branch_summary") return `[branch] ${oneLineOf(entry.summary)}`;
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  if (message.role === "user") return `you: ${oneLineOf(message.content)}`;
  if (message.role !== "assistant" || textOf(message.content).trim() === "") return undefined;
  return `pi-ts: ${oneLineOf(message.content)}`;
}
