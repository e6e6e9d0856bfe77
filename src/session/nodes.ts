// A session's entries as the tree that they are: roots with their children, in the order they were written. Pure.
import type { Entry } from "../protocol/entry.ts";

export interface EntryNode {
  readonly entry: Entry;
  readonly children: EntryNode[];
  /** The user's mark on the entry, and when it was put there (ISO 8601). */
  label?: string;
  labelTimestamp?: string;
}

/** An entry whose parent is not there, or was written later, is a root. */
export function toNodes(entries: readonly Entry[]): EntryNode[] {
  const nodes = new Map<string, EntryNode>();
  const roots: EntryNode[] = [];
  for (const entry of entries) {
    const node: EntryNode = { entry, children: [] };
    const parent = entry.parentId === null ? undefined : nodes.get(entry.parentId);
    (parent?.children ?? roots).push(node);
    nodes.set(entry.id, node);
    if (entry.type === "label") mark(nodes.get(entry.targetId), entry.label, entry.timestamp);
  }
  return roots;
}

function mark(node: EntryNode | undefined, label: string | undefined, timestamp: string): void {
  if (!node) return;
  if (label === undefined) {
    delete node.label;
    delete node.labelTimestamp;
  } else Object.assign(node, { label, labelTimestamp: timestamp });
}
