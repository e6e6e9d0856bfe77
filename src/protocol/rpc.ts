// The commands of RPC mode and what each answers; and the records that only RPC mode knows.
import * as z from "zod/mini";
import { Entry } from "./entry.ts";
import { CompactionResult } from "./event.ts";
import { BashExecutionMessage, ImageContent, Message, ThinkingLevel } from "./message.ts";
import { Model } from "./model.ts";

/** What a client calls a command by; an answer repeats it as it came. Clients send texts; a number is taken too. */
export const CommandId = z.union([z.string(), z.number()]);
export type CommandId = z.infer<typeof CommandId>;

const none = z.object({});
const nothing = z.void();
const images = z.optional(z.array(ImageContent));
const cancelled = z.object({ cancelled: z.boolean() });

/** What became of a message: a run began with it, it waits for its turn, or it was dealt with at once. pi: since 0.99.0. */
export const Disposition = z.object({ disposition: z.enum(["started", "queued", "handled"]) });
export type Disposition = z.infer<typeof Disposition>;

/** Whether queued messages have their turn together or one after another. */
export const QueueMode = z.enum(["all", "one-at-a-time"]);
export type QueueMode = z.infer<typeof QueueMode>;

const Queues = z.object({ steering: z.array(z.string()), followUp: z.array(z.string()) });

/** The answer to `get_state`: the session and the settings in force. */
export const RpcState = z.object({
  /** Always there in this program; pi has none before one is chosen. */
  model: z.optional(Model),
  thinkingLevel: ThinkingLevel,
  isStreaming: z.boolean(),
  isCompacting: z.boolean(),
  steeringMode: QueueMode,
  followUpMode: QueueMode,
  /** Absent for a session that is not stored. */
  sessionFile: z.optional(z.string()),
  sessionId: z.string(),
  sessionName: z.optional(z.string()),
  autoCompactionEnabled: z.boolean(),
  messageCount: z.number(),
  pendingMessageCount: z.number(),
});
export type RpcState = z.infer<typeof RpcState>;

/** Counts of the active branch; tokens and cost (US dollars) of the whole session. */
export const SessionStats = z.object({
  sessionFile: z.optional(z.string()),
  sessionId: z.string(),
  userMessages: z.number(),
  assistantMessages: z.number(),
  toolCalls: z.number(),
  toolResults: z.number(),
  totalMessages: z.number(),
  tokens: z.object({
    input: z.number(),
    output: z.number(),
    cacheRead: z.number(),
    cacheWrite: z.number(),
    total: z.number(),
  }),
  cost: z.number(),
  /** `tokens` and `percent` are `null` as long as nothing is known of the size, after a compaction. Absent in pi without a model. */
  contextUsage: z.optional(
    z.object({
      tokens: z.nullable(z.number()),
      contextWindow: z.number(),
      percent: z.nullable(z.number()),
    }),
  ),
});
export type SessionStats = z.infer<typeof SessionStats>;

/** An entry with what was written behind it. */
export interface TreeNode {
  readonly entry: Entry;
  readonly children: readonly TreeNode[];
  /** The user's mark on the entry, and when it was put there (ISO 8601). */
  readonly label?: string | undefined;
  readonly labelTimestamp?: string | undefined;
}

/** Lazy, as it holds itself. A tree as deep as a long session is too deep for it. */
export const TreeNode: z.ZodMiniType<TreeNode> = z.lazy(() =>
  z.object({
    entry: Entry,
    children: z.array(TreeNode),
    label: z.optional(z.string()),
    labelTimestamp: z.optional(z.string()),
  }),
);

/** Something that `prompt` expands: `/name` of a prompt template, `/skill:name` of a skill. */
export const CommandInfo = z.object({
  name: z.string(),
  description: z.optional(z.string()),
  source: z.enum(["prompt", "skill", "extension"]),
  sourceInfo: z.object({
    path: z.string(),
    /** How it was found: `local`, in one of the folders for them, or `cli`, named on the command line. pi has further ones. */
    source: z.string(),
    scope: z.enum(["user", "project", "temporary"]),
    /** `package` in pi alone. */
    origin: z.enum(["top-level", "package"]),
  }),
});
export type CommandInfo = z.infer<typeof CommandInfo>;

/** The answer to `bash`. `output` is cut when `truncated`, and all of it in the file of `fullOutputPath`; without `exitCode` it was cancelled (in pi, or ended by a signal). */
export const BashResult = z.pick(BashExecutionMessage, {
  output: true,
  exitCode: true,
  cancelled: true,
  truncated: true,
  fullOutputPath: true,
});
export type BashResult = z.infer<typeof BashResult>;

const leafId = z.nullable(z.string());

/**
 * One entry a command: what may stand beside `type` and `id`, and the `data` of its answer. In pi `get_entries` and `get_tree` came with 0.80.3,
 * `get_available_thinking_levels` with 0.81.0, `clear_queue` with 0.84.4.
 */
export const rpcCommands = {
  prompt: {
    params: z.object({
      message: z.string(),
      images,
      streamingBehavior: z.optional(z.enum(["steer", "followUp"])),
    }),
    result: Disposition,
  },
  steer: { params: z.object({ message: z.string(), images }), result: Disposition },
  follow_up: { params: z.object({ message: z.string(), images }), result: Disposition },
  abort: { params: none, result: nothing },
  clear_queue: { params: none, result: Queues },
  new_session: { params: z.object({ parentSession: z.optional(z.string()) }), result: cancelled },
  get_state: { params: none, result: RpcState },
  get_messages: { params: none, result: z.object({ messages: z.array(Message) }) },
  set_model: { params: z.object({ provider: z.string(), modelId: z.string() }), result: Model },
  cycle_model: {
    params: none,
    result: z.nullable(z.object({ model: Model, thinkingLevel: ThinkingLevel, isScoped: z.boolean() })),
  },
  get_available_models: { params: none, result: z.object({ models: z.array(Model) }) },
  set_thinking_level: { params: z.object({ level: ThinkingLevel }), result: nothing },
  cycle_thinking_level: { params: none, result: z.nullable(z.object({ level: ThinkingLevel })) },
  get_available_thinking_levels: { params: none, result: z.object({ levels: z.array(ThinkingLevel) }) },
  set_steering_mode: { params: z.object({ mode: QueueMode }), result: nothing },
  set_follow_up_mode: { params: z.object({ mode: QueueMode }), result: nothing },
  compact: { params: z.object({ customInstructions: z.optional(z.string()) }), result: CompactionResult },
  set_auto_compaction: { params: z.object({ enabled: z.boolean() }), result: nothing },
  set_auto_retry: { params: z.object({ enabled: z.boolean() }), result: nothing },
  abort_retry: { params: none, result: nothing },
  bash: {
    params: z.object({ command: z.string(), excludeFromContext: z.optional(z.boolean()) }),
    result: BashResult,
  },
  abort_bash: { params: none, result: nothing },
  get_session_stats: { params: none, result: SessionStats },
  export_html: { params: z.object({ outputPath: z.optional(z.string()) }), result: z.object({ path: z.string() }) },
  switch_session: { params: z.object({ sessionPath: z.string() }), result: cancelled },
  fork: {
    params: z.object({ entryId: z.string() }),
    /** Without a text when pi's extensions cancel it. */
    result: z.object({ text: z.optional(z.string()), cancelled: z.boolean() }),
  },
  clone: { params: none, result: cancelled },
  get_fork_messages: {
    params: none,
    result: z.object({ messages: z.array(z.object({ entryId: z.string(), text: z.string() })) }),
  },
  get_entries: {
    params: z.object({ since: z.optional(z.string()) }),
    result: z.object({ entries: z.array(Entry), leafId }),
  },
  get_tree: { params: none, result: z.object({ tree: z.array(TreeNode), leafId }) },
  /** Without an answer yet, or when the last one is empty, `text` is absent; pi's own reference has it as `null`. */
  get_last_assistant_text: { params: none, result: z.object({ text: z.optional(z.nullable(z.string())) }) },
  set_session_name: { params: z.object({ name: z.string() }), result: nothing },
  get_commands: { params: none, result: z.object({ commands: z.array(CommandInfo) }) },
} as const;

/** The type of `rpcCommands`. */
export type RpcCommands = typeof rpcCommands;
/** A command's `type`. */
export type RpcCommandName = keyof RpcCommands;
/** What stands in a command beside its `type` and `id`. */
export type RpcParams<Name extends RpcCommandName> = z.infer<RpcCommands[Name]["params"]>;
/** The `data` of a command's answer; void for none. */
export type RpcResult<Name extends RpcCommandName> = z.infer<RpcCommands[Name]["result"]>;

/** A line of the client's. */
export type RpcCommand = {
  [Name in RpcCommandName]: { type: Name; id?: CommandId | undefined } & RpcParams<Name>;
}[RpcCommandName];

/** `command` is `parse` for a line that is no command at all; `data` is the command's `result`. */
export const RpcResponse = z.discriminatedUnion("success", [
  z.object({
    id: z.optional(CommandId),
    type: z.literal("response"),
    command: z.string(),
    success: z.literal(true),
    data: z.optional(z.unknown()),
  }),
  z.object({
    id: z.optional(CommandId),
    type: z.literal("response"),
    command: z.string(),
    success: z.literal(false),
    error: z.string(),
  }),
]);
export type RpcResponse = z.infer<typeof RpcResponse>;

/** What a command of the client's prints, as it comes; `id` is the command's. pi: since 0.82.0. */
export const BashExecutionUpdate = z.object({
  type: z.literal("bash_execution_update"),
  id: z.optional(CommandId),
  delta: z.string(),
});
export type BashExecutionUpdate = z.infer<typeof BashExecutionUpdate>;
