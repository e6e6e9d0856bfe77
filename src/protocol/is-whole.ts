// Whether a record has what the program relies on. By hand instead of by schema: a long session has many lines, and what is unknown stays.
import type { Entry, SessionHeader } from "./entry.ts";

type Fields = Readonly<Record<string, unknown>>;

export function isHeader(record: object): record is SessionHeader {
  const { type, id, cwd, version } = record as Fields;
  const versioned = version === undefined || typeof version === "number";
  return type === "session" && typeof id === "string" && typeof cwd === "string" && versioned;
}

/** Whether an entry has what places it in the tree, and what its type cannot be without. Types that are not known only need a place. */
export function isWhole(entry: object): entry is Entry {
  const { id, parentId, timestamp, type, ...fields } = entry as Fields;
  const placed = typeof id === "string" && (parentId === null || typeof parentId === "string");
  if (!placed || typeof timestamp !== "string") return false;
  const check = Object.hasOwn(checks, String(type)) ? checks[String(type)] : undefined;
  return check === undefined || check(fields);
}

const texts =
  (...names: readonly string[]) =>
  (fields: Fields) =>
    names.every((name) => typeof fields[name] === "string");

const checks: Readonly<Record<string, (fields: Fields) => boolean>> = {
  message: ({ message }) => isObject(message) && isMessage(message),
  model_change: texts("provider", "modelId"),
  thinking_level_change: texts("thinkingLevel"),
  compaction: texts("summary", "firstKeptEntryId"),
  branch_summary: texts("summary"),
  custom_message: ({ content }) => isContent(content),
  label: texts("targetId"),
  context_edit: texts("targetId"),
};

function isMessage(message: Fields): boolean {
  switch (message.role) {
    case "system":
    case "user":
    case "custom":
      return isContent(message.content);
    case "assistant":
      return isBlocks(message.content);
    case "toolResult":
      return isBlocks(message.content) && texts("toolCallId", "toolName")(message);
    case "bashExecution":
      return texts("command", "output")(message);
    case "branchSummary":
    case "compactionSummary":
      return texts("summary")(message);
    default:
      return typeof message.role === "string";
  }
}

function isContent(content: unknown): boolean {
  return typeof content === "string" || isBlocks(content);
}

function isBlocks(content: unknown): boolean {
  return Array.isArray(content) && content.every((block) => isObject(block) && isBlock(block));
}

function isBlock(block: Fields): boolean {
  switch (block.type) {
    case "text":
      return typeof block.text === "string";
    case "thinking":
      return typeof block.thinking === "string";
    case "image":
      return texts("data", "mimeType")(block);
    case "toolCall":
      return texts("id", "name")(block) && isObject(block.arguments);
    default:
      return typeof block.type === "string";
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
