// Messages: what the model sees, what a session stores, and what events carry. These are the wire shapes themselves.
import * as z from "zod/mini";
import { thinkingLevels } from "./thinking-level.ts";

/** Plain text. `textSignature` is opaque provider data. */
export const TextContent = z.looseObject({
  type: z.literal("text"),
  text: z.string(),
  textSignature: z.optional(z.string()),
});
export type TextContent = z.infer<typeof TextContent>;

/**
 * A model's reasoning. `thinkingSignature` is opaque replay data that only the provider and model which wrote it accept;
 * for OpenAI-compatible providers it names the response field the text came from (`reasoning_content`, `reasoning`).
 * A redacted block keeps its encrypted payload there and may have no text.
 */
export const ThinkingContent = z.looseObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  thinkingSignature: z.optional(z.string()),
  redacted: z.optional(z.boolean()),
});
export type ThinkingContent = z.infer<typeof ThinkingContent>;

/** An image: `data` is base64, `mimeType` names its media type, such as `image/png`. */
export const ImageContent = z.looseObject({
  type: z.literal("image"),
  data: z.string(),
  mimeType: z.string(),
});
export type ImageContent = z.infer<typeof ImageContent>;

/**
 * A tool call as the model made it. `id` is the provider's own, byte for byte (made up only where it was empty or used twice).
 * `argumentsError` is set when the argument text was not a JSON object; `arguments` is then `{}` and the call is never run.
 * `extraContent` is what the provider attached to the call (`extra_content` on the OpenAI-compatible wire) and wants back unchanged.
 */
export const ToolCall = z.looseObject({
  type: z.literal("toolCall"),
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  thoughtSignature: z.optional(z.string()),
  argumentsError: z.optional(z.string()),
  extraContent: z.optional(z.unknown()),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** US dollars, from the catalog's prices unless `totalFromProvider` is true. */
export const Cost = z.looseObject({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  total: z.number(),
  /** pi: since 1.5.0. */
  totalFromProvider: z.optional(z.boolean()),
});
export type Cost = z.infer<typeof Cost>;

/** Tokens, in disjoint fields: `input` is what was not cached; `reasoning` is contained in `output`. */
export const Usage = z.looseObject({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  reasoning: z.optional(z.number()),
  totalTokens: z.number(),
  cost: Cost,
});
export type Usage = z.infer<typeof Usage>;

/** A tool as a request offers it: `parameters` is a JSON Schema object. */
export const ToolSpec = z.looseObject({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
});
export type ToolSpec = z.infer<typeof ToolSpec>;

/** What a tool does to the world; permissions are judged by it. */
export const ToolAccess = z.enum(["read", "write", "execute"]);
export type ToolAccess = z.infer<typeof ToolAccess>;

/**
 * The prompt in force: `content`, then each section in order. Later system messages replace sections by name; `null` removes one. pi 0.84.4 has
 * none, 0.86.1 has.
 */
export const SystemMessage = z.looseObject({
  role: z.literal("system"),
  content: z.union([z.string(), z.array(TextContent)]),
  sections: z.optional(z.record(z.string(), z.nullable(z.string()))),
  toolsAdded: z.optional(z.array(ToolSpec)),
  toolsRemoved: z.optional(z.array(z.looseObject({ name: z.string() }))),
  timestamp: z.number(),
});
export type SystemMessage = z.infer<typeof SystemMessage>;

const contentOrText = z.union([z.string(), z.array(z.discriminatedUnion("type", [TextContent, ImageContent]))]);

/** What the user said; `timestamp` is Unix milliseconds. */
export const UserMessage = z.looseObject({
  role: z.literal("user"),
  content: contentOrText,
  timestamp: z.number(),
});
export type UserMessage = z.infer<typeof UserMessage>;

/** Why an answer ended; `pending` while it streams, `deferred` for one that pi fetches later. */
export const StopReason = z.enum(["pending", "stop", "length", "toolUse", "error", "aborted", "deferred"]);
export type StopReason = z.infer<typeof StopReason>;

/** How hard a model is asked to think, from none to the most it can. */
export const ThinkingLevel = z.enum(thinkingLevels);
export type ThinkingLevel = z.infer<typeof ThinkingLevel>;

/**
 * A model's answer. `timestamp` is Unix milliseconds of the request's start, `durationMs` the time until its end. `thinkingLevel` and
 * `durationMs` came after pi 0.86.1.
 */
export const AssistantMessage = z.looseObject({
  role: z.literal("assistant"),
  content: z.array(z.discriminatedUnion("type", [TextContent, ThinkingContent, ToolCall])),
  api: z.string(),
  provider: z.string(),
  model: z.string(),
  responseId: z.optional(z.string()),
  usage: Usage,
  stopReason: StopReason,
  rawStopReason: z.optional(z.string()),
  errorMessage: z.optional(z.string()),
  thinkingLevel: z.optional(ThinkingLevel),
  timestamp: z.number(),
  durationMs: z.optional(z.number()),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;
/** A block of an answer. */
export type AssistantContent = AssistantMessage["content"][number];

/** What a tool call came to, as the model reads it. `timestamp` is Unix milliseconds; `durationMs`, of the run of the tool, came with pi 1.1.0. */
export const ToolResultMessage = z.looseObject({
  role: z.literal("toolResult"),
  toolCallId: z.string(),
  toolName: z.string(),
  content: z.array(z.discriminatedUnion("type", [TextContent, ImageContent])),
  details: z.optional(z.unknown()),
  isError: z.boolean(),
  timestamp: z.number(),
  durationMs: z.optional(z.number()),
});
export type ToolResultMessage = z.infer<typeof ToolResultMessage>;

/** A command that the user (not the model) ran; its output reaches the model with the next prompt unless it is excluded. */
export const BashExecutionMessage = z.looseObject({
  role: z.literal("bashExecution"),
  command: z.string(),
  output: z.string(),
  exitCode: z.optional(z.number()),
  cancelled: z.boolean(),
  truncated: z.boolean(),
  fullOutputPath: z.optional(z.string()),
  excludeFromContext: z.optional(z.boolean()),
  timestamp: z.number(),
});
export type BashExecutionMessage = z.infer<typeof BashExecutionMessage>;

/** A message put in by a program; the model sees its content as the user's, `display` says whether people do. */
export const CustomMessage = z.looseObject({
  role: z.literal("custom"),
  customType: z.string(),
  content: contentOrText,
  display: z.boolean(),
  details: z.optional(z.unknown()),
  timestamp: z.number(),
});
export type CustomMessage = z.infer<typeof CustomMessage>;

/** What a branch that was left had come to. */
export const BranchSummaryMessage = z.looseObject({
  role: z.literal("branchSummary"),
  summary: z.string(),
  fromId: z.nullable(z.string()),
  timestamp: z.number(),
});
export type BranchSummaryMessage = z.infer<typeof BranchSummaryMessage>;

/** Stands for the conversation before it; `tokensBefore` is the size of the context it replaced. */
export const CompactionSummaryMessage = z.looseObject({
  role: z.literal("compactionSummary"),
  summary: z.string(),
  tokensBefore: z.number(),
  timestamp: z.number(),
});
export type CompactionSummaryMessage = z.infer<typeof CompactionSummaryMessage>;

/** One message of a conversation, told apart by its `role`. */
export const Message = z.discriminatedUnion("role", [
  SystemMessage,
  UserMessage,
  AssistantMessage,
  ToolResultMessage,
  BashExecutionMessage,
  CustomMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
]);
export type Message = z.infer<typeof Message>;

/** What a provider is sent; the other roles are put into the user's words first. */
export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage;
