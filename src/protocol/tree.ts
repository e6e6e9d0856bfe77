// The tree of a session's entries: the path to a leaf, and the context it makes. Pure.
import type { Entry } from "./entry.ts";
import type { Message, SystemMessage, ThinkingLevel } from "./message.ts";

/**
 * The entries from a root to `leafId` (null: none). Where a parent is missing, because its line was lost, the entry written before stands
 * in for it, so that no damage hides what came earlier.
 */
export function pathTo(entries: readonly Entry[], leafId: string | null): Entry[] {
  const positions = new Map(entries.map((entry, position) => [entry.id, position]));
  const path: Entry[] = [];
  let position = leafId === null ? -1 : (positions.get(leafId) ?? -1);
  while (position >= 0) {
    const entry = entries[position] as Entry;
    path.push(entry);
    if (entry.parentId === null) break;
    const parent = positions.get(entry.parentId);
    // A parent that was written later cannot be one; going back in the file always ends.
    position = parent === undefined || parent >= position ? position - 1 : parent;
  }
  return path.reverse();
}

/** What a model is shown of a branch, and the settings in force at its end. */
export interface SessionContext {
  readonly messages: readonly Message[];
  /** For each message the id of the entry it came from. */
  readonly entryIds: readonly string[];
  readonly model: { readonly provider: string; readonly modelId: string } | undefined;
  readonly thinkingLevel: ThinkingLevel | undefined;
}

/** The latest compaction on the path stands for what it summarized; context edits are applied. */
export function buildContext(entries: readonly Entry[], leafId: string | null): SessionContext {
  const path = pathTo(entries, leafId);
  const edits = new Map(
    path.flatMap((entry) => (entry.type === "context_edit" ? [[entry.targetId, entry.replacement]] : [])),
  );
  const messages: Message[] = [];
  const entryIds: string[] = [];
  const add = (message: Message | undefined, entry: Entry) => {
    if (!message) return;
    messages.push(message);
    entryIds.push(entry.id);
  };
  for (const entry of afterCompaction(path)) {
    if (entry.type === "compaction") {
      add(entry.systemMessage, entry);
      add(toMessage(entry), entry);
    } else if (!edits.has(entry.id)) add(toMessage(entry), entry);
    else add(edited(toMessage(entry), edits.get(entry.id)), entry);
  }
  return { messages, entryIds, ...settings(path) };
}

/** The path as the context sees it: from its latest compaction, with the entries that this one kept. */
function afterCompaction(path: readonly Entry[]): Entry[] {
  const at = path.findLastIndex(({ type }) => type === "compaction");
  const compaction = path[at];
  if (compaction?.type !== "compaction") return [...path];
  const first = path.findIndex(({ id }) => id === compaction.firstKeptEntryId);
  const kept = first === -1 ? [] : path.slice(first, at);
  const hasPrompt = compaction.systemMessage !== undefined;
  // An earlier compaction among what is kept is part of this one's summary.
  const shown = kept.filter((entry) => entry.type !== "compaction" && !(hasPrompt && isSystem(entry)));
  return [compaction, ...shown, ...path.slice(at + 1)];
}

function isSystem(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "system";
}

function toMessage(entry: Entry): Message | undefined {
  const timestamp = Date.parse(entry.timestamp);
  switch (entry.type) {
    case "message":
      return entry.message;
    case "compaction":
      return { role: "compactionSummary", summary: entry.summary, tokensBefore: entry.tokensBefore, timestamp };
    case "branch_summary":
      return { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp };
    case "custom_message": {
      const { customType, content, display } = entry;
      const details = entry.details === undefined ? {} : { details: entry.details };
      return { role: "custom", customType, content, display, ...details, timestamp };
    }
    default:
      return undefined;
  }
}

/** `replacement` is the new content, or null to leave the message out. */
function edited(message: Message | undefined, replacement: unknown): Message | undefined {
  if (!message || replacement === null || replacement === undefined) return undefined;
  const asBlocks = message.role === "assistant" || message.role === "toolResult";
  const content = asBlocks && typeof replacement === "string" ? [{ type: "text", text: replacement }] : replacement;
  return { ...message, content } as Message;
}

/** The model and thinking level in force at a leaf. */
export function branchSettings(entries: readonly Entry[], leafId: string | null) {
  return settings(pathTo(entries, leafId));
}

function settings(path: readonly Entry[]): Pick<SessionContext, "model" | "thinkingLevel"> {
  const level = path.findLast((entry) => entry.type === "thinking_level_change");
  return {
    model: lastModel(path),
    thinkingLevel: level?.type === "thinking_level_change" ? level.thinkingLevel : undefined,
  };
}

/** The name that was given last, on whichever branch; an empty one takes it away. */
export function nameIn(entries: readonly Entry[]): string | undefined {
  const info = entries.findLast((entry) => entry.type === "session_info");
  const name: unknown = info?.type === "session_info" ? info.name : undefined;
  return typeof name === "string" && name.trim() !== "" ? name : undefined;
}

/** The model that was chosen or answered last. */
function lastModel(path: readonly Entry[]): SessionContext["model"] {
  for (const entry of path.toReversed()) {
    if (entry.type === "model_change") return { provider: entry.provider, modelId: entry.modelId };
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    const { provider, model } = entry.message;
    if (typeof provider === "string" && typeof model === "string") return { provider, modelId: model };
  }
  return undefined;
}

/** The prompt in force: the leading system message with the sections and tools that later ones changed. */
export function currentSystem(messages: readonly Message[]): SystemMessage | undefined {
  return messages.reduce<SystemMessage | undefined>((current, message) => {
    if (message.role !== "system") return current;
    if (!current) return message;
    const { toolsRemoved, ...rest } = message;
    return {
      ...rest,
      sections: { ...current.sections, ...message.sections },
      toolsAdded: changedTools(current.toolsAdded ?? [], message.toolsAdded ?? [], toolsRemoved ?? []),
    };
  }, undefined);
}

type Tools = NonNullable<SystemMessage["toolsAdded"]>;

function changedTools(tools: Tools, added: Tools, removed: readonly { readonly name: string }[]): Tools {
  const gone = new Set([...added, ...removed].map(({ name }) => name));
  return [...tools.filter(({ name }) => !gone.has(name)), ...added];
}
