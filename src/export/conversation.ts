// A session's entries as a page wants them: the branch at the leaf, checked, with what belongs together found. Pure.
import { Entry } from "../protocol/entry.ts";
import type { ToolResultMessage, Usage } from "../protocol/message.ts";
import { pathTo } from "../protocol/tree.ts";

/** An entry, or what stands in its place in the file and is none that is known. */
export type Item =
  | { readonly id: string; readonly entry: Entry }
  | { readonly id: string; readonly entry: undefined; readonly raw: unknown };

export interface Conversation {
  /** The branch, from its root to its leaf. */
  readonly items: readonly Item[];
  /** Results by the entry of their answer and the id of their call. */
  readonly results: ReadonlyMap<string, ReadonlyMap<string, ToolResultMessage>>;
  /** The entries whose result is shown with its call. */
  readonly paired: ReadonlySet<string>;
  /** The entries that later requests do not hold, or not as they are. */
  readonly edited: ReadonlyMap<string, "removed" | "replaced">;
  /** Answers that follow one of the same model, with nothing but their results between. */
  readonly continued: ReadonlySet<string>;
  /** Marks that the user has set, by entry. */
  readonly labels: ReadonlyMap<string, string>;
}

export function toConversation(entries: readonly Entry[], leafId: string | null): Conversation {
  const items = pathTo(entries, leafId).map(toItem);
  return {
    items,
    ...pairResults(items),
    continued: continuedIn(items),
    edited: editsOf(items),
    labels: labelsOf(entries),
  };
}

/** What a file holds has been checked by nobody yet. The schema changes nothing, so the entry itself goes on, not a copy. */
export function toItem(raw: Entry): Item {
  return Entry.safeParse(raw).success ? { id: raw.id, entry: raw } : { id: raw.id, entry: undefined, raw };
}

/** A result belongs to the latest call with its id that has none yet: ids are used again. */
function pairResults(items: readonly Item[]): Pick<Conversation, "results" | "paired"> {
  const results = new Map<string, Map<string, ToolResultMessage>>();
  const paired = new Set<string>();
  const open = new Map<string, string>();
  for (const { id, entry } of items) {
    if (entry?.type !== "message") continue;
    const { message } = entry;
    if (message.role === "assistant") {
      for (const block of message.content) if (block.type === "toolCall") open.set(block.id, id);
    }
    if (message.role !== "toolResult") continue;
    const owner = open.get(message.toolCallId);
    if (owner === undefined) continue;
    open.delete(message.toolCallId);
    const ofOwner = results.get(owner) ?? new Map<string, ToolResultMessage>();
    results.set(owner, ofOwner.set(message.toolCallId, message));
    paired.add(id);
  }
  return { results, paired };
}

function continuedIn(items: readonly Item[]): Set<string> {
  const continued = new Set<string>();
  let model: string | undefined;
  for (const { id, entry } of items) {
    const message = entry?.type === "message" ? entry.message : undefined;
    if (message?.role === "toolResult") continue;
    const own = message?.role === "assistant" ? `${message.provider}/${message.model}` : undefined;
    if (own !== undefined && own === model) continued.add(id);
    model = own;
  }
  return continued;
}

function editsOf(items: readonly Item[]): Map<string, "removed" | "replaced"> {
  const edits = new Map<string, "removed" | "replaced">();
  for (const { entry } of items) {
    if (entry?.type === "context_edit") edits.set(entry.targetId, entry.replacement === null ? "removed" : "replaced");
  }
  return edits;
}

function labelsOf(entries: readonly Entry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== "label") continue;
    if (typeof entry.label === "string") labels.set(entry.targetId, entry.label);
    else labels.delete(entry.targetId);
  }
  return labels;
}

export interface Totals {
  /** All that was sent, cached or not. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost: number;
}

/** What the whole session has used, on all of its branches. */
export function totalsOf(entries: readonly Entry[]): Totals {
  const total = { input: 0, cached: 0, output: 0, cost: 0 };
  for (const entry of entries) {
    const usage = (entry.type === "message" ? entry.message.usage : entry.usage) as Partial<Usage> | undefined;
    if (typeof usage !== "object" || usage === null) continue;
    total.input += finite(usage.input) + finite(usage.cacheRead) + finite(usage.cacheWrite);
    total.cached += finite(usage.cacheRead);
    total.output += finite(usage.output);
    total.cost += finite(usage.cost?.total);
  }
  return total;
}

function finite(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** The text of a message's content, without its images. */
export function textOf(content: string | readonly { readonly type: string; readonly text?: unknown }[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [String(block.text)] : [])).join("\n");
}
