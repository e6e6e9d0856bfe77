// Entries: what a session stores, one JSON line each, as a tree (the v3 session format).
import * as z from "zod/mini";
import { ImageContent, Message, SystemMessage, TextContent, ThinkingLevel, Usage } from "./message.ts";

/** The first line of a session file. `timestamp` is ISO 8601; `parentSession` the path of the file it was forked from. */
export const SessionHeader = z.looseObject({
  type: z.literal("session"),
  version: z.optional(z.number()),
  id: z.string(),
  timestamp: z.string(),
  cwd: z.string(),
  parentSession: z.optional(z.string()),
});
export type SessionHeader = z.infer<typeof SessionHeader>;

/** `id` is 8 hex digits, or a UUID; `parentId` null for a root; `timestamp` ISO 8601. */
const base = { id: z.string(), parentId: z.nullable(z.string()), timestamp: z.string() };

/** A message of the conversation. */
export const MessageEntry = z.looseObject({ type: z.literal("message"), ...base, message: Message });
export type MessageEntry = z.infer<typeof MessageEntry>;

/** Another model was chosen. */
export const ModelChangeEntry = z.looseObject({
  type: z.literal("model_change"),
  ...base,
  provider: z.string(),
  modelId: z.string(),
});
export type ModelChangeEntry = z.infer<typeof ModelChangeEntry>;

/** Another thinking level was chosen. */
export const ThinkingLevelChangeEntry = z.looseObject({
  type: z.literal("thinking_level_change"),
  ...base,
  thinkingLevel: ThinkingLevel,
});
export type ThinkingLevelChangeEntry = z.infer<typeof ThinkingLevelChangeEntry>;

/** The summary replaces what stands before `firstKeptEntryId` (its own id: everything) in the context; `tokensBefore` was its size. */
export const CompactionEntry = z.looseObject({
  type: z.literal("compaction"),
  ...base,
  summary: z.string(),
  firstKeptEntryId: z.string(),
  tokensBefore: z.number(),
  systemMessage: z.optional(SystemMessage),
  usage: z.optional(Usage),
  details: z.optional(z.unknown()),
  /** Whether something other than the program itself made the summary. */
  fromHook: z.optional(z.boolean()),
});
export type CompactionEntry = z.infer<typeof CompactionEntry>;

/** What a branch that was left had come to; `fromId` was its last entry. */
export const BranchSummaryEntry = z.looseObject({
  type: z.literal("branch_summary"),
  ...base,
  fromId: z.nullable(z.string()),
  summary: z.string(),
  usage: z.optional(Usage),
  details: z.optional(z.unknown()),
});
export type BranchSummaryEntry = z.infer<typeof BranchSummaryEntry>;

/** A program's own state; no part of the context. */
export const CustomEntry = z.looseObject({
  type: z.literal("custom"),
  ...base,
  customType: z.string(),
  data: z.optional(z.unknown()),
});
export type CustomEntry = z.infer<typeof CustomEntry>;

/** A program's message to the model. */
export const CustomMessageEntry = z.looseObject({
  type: z.literal("custom_message"),
  ...base,
  customType: z.string(),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [TextContent, ImageContent]))]),
  display: z.boolean(),
  details: z.optional(z.unknown()),
});
export type CustomMessageEntry = z.infer<typeof CustomMessageEntry>;

/** A user's mark on an entry; without `label` the mark is taken away. */
export const LabelEntry = z.looseObject({
  type: z.literal("label"),
  ...base,
  targetId: z.string(),
  label: z.optional(z.string()),
});
export type LabelEntry = z.infer<typeof LabelEntry>;

/** The session's name; without one it is taken away. */
export const SessionInfoEntry = z.looseObject({
  type: z.literal("session_info"),
  ...base,
  name: z.optional(z.string()),
});
export type SessionInfoEntry = z.infer<typeof SessionInfoEntry>;

/** Tokens that no message of the conversation accounts for; `kind` says what for. */
export const UsageEntry = z.looseObject({
  type: z.literal("usage"),
  ...base,
  kind: z.string(),
  provider: z.string(),
  model: z.string(),
  usage: Usage,
});
export type UsageEntry = z.infer<typeof UsageEntry>;

/** Takes the target out of future contexts (`replacement: null`) or changes its content there; the target itself stays as it is. pi: since 0.87.0. */
export const ContextEditEntry = z.looseObject({
  type: z.literal("context_edit"),
  ...base,
  targetId: z.string(),
  replacement: z.nullable(z.unknown()),
});
export type ContextEditEntry = z.infer<typeof ContextEditEntry>;

/** A line of a session file behind its header, told apart by its `type`. */
export const Entry = z.discriminatedUnion("type", [
  MessageEntry,
  ModelChangeEntry,
  ThinkingLevelChangeEntry,
  CompactionEntry,
  BranchSummaryEntry,
  CustomEntry,
  CustomMessageEntry,
  LabelEntry,
  SessionInfoEntry,
  UsageEntry,
  ContextEditEntry,
]);
export type Entry = z.infer<typeof Entry>;

type DistributiveOmit<Type, Keys extends PropertyKey> = Type extends unknown ? Omit<Type, Keys> : never;
/** An entry before the store gives it its place. */
export type EntryDraft = { [Kind in Entry["type"]]: DraftOf<Extract<Entry, { type: Kind }>> }[Entry["type"]];
type DraftOf<Kind> = DistributiveOmit<
  { [Key in keyof Kind as string extends Key ? never : Key]: Kind[Key] },
  "id" | "parentId" | "timestamp"
>;
