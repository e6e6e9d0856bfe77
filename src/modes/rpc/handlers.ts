// What each command does. The table is mapped over the commands' names, so a command without a handler is a type error.
import type { App, QueueKind } from "../../app/app.ts";
import { thinkingLevelsOf } from "../../app/model-choice.ts";
import { sessionStats } from "../../app/session-stats.ts";
import { pathTo } from "../../app/sessions.ts";
import type { ImageContent } from "../../protocol/message.ts";
import type { BashExecutionUpdate, CommandId, RpcCommandName, RpcParams, RpcResult } from "../../protocol/rpc.ts";
import { AppError } from "../../util/error.ts";
import { sessionHandlers } from "./session-handlers.ts";

/** One command on its way to its answer. */
export interface Call {
  readonly app: App;
  readonly id: CommandId | undefined;
  /** Runs `action` once the answer is written; not at all when the command fails. */
  after(action: () => void): void;
  readonly write: (record: BashExecutionUpdate) => void;
  /** A promise as long as the client does not keep up with what it is told. */
  readonly hold: () => Promise<void> | undefined;
  /** Begins a run; what comes of it is told by events. */
  readonly start: (message: Prompt | undefined) => void;
}

export interface Prompt {
  readonly text: string;
  readonly images: readonly ImageContent[] | undefined;
}

/** The result becomes the answer's `data`; what is thrown, its `error`. */
export type Handler<Name extends RpcCommandName> = (
  params: RpcParams<Name>,
  call: Call,
) => RpcResult<Name> | Promise<RpcResult<Name>>;

export type Handlers = { readonly [Name in RpcCommandName]: Handler<Name> };

/** Commands whose answer comes when their work is done, which nobody else waits for. */
export const lastingCommands: ReadonlySet<RpcCommandName> = new Set(["abort", "bash", "compact"]);

export const handlers: Handlers = {
  ...sessionHandlers,
  async prompt({ message, images, streamingBehavior }, call) {
    const { app } = call;
    const text = await app.expand(message);
    if (text.trim() === "" && !images?.length) throw new AppError("usage", "'message' is empty");
    const activity = app.activity();
    if (activity === "idle") {
      call.after(() => call.start({ text, images }));
      return { disposition: "started" };
    }
    if (streamingBehavior === undefined) {
      throw new AppError(
        "usage",
        `A ${activity} is running already: streamingBehavior ('steer' or 'followUp') queues the message`,
      );
    }
    app.queue.add(streamingBehavior === "steer" ? "steering" : "followUp", text, images);
    if (activity === "compaction") void startBehind(call);
    return { disposition: "queued" };
  },
  steer: (params, call) => enqueue("steering", params, call),
  follow_up: (params, call) => enqueue("followUp", params, call),
  abort: (_params, { app }) => app.abort(),
  clear_queue: (_params, { app }) => app.queue.clear(),
  set_steering_mode: ({ mode }, { app }) => app.queue.setMode("steering", mode),
  set_follow_up_mode: ({ mode }, { app }) => app.queue.setMode("followUp", mode),
  get_state(_params, { app }) {
    const session = app.session();
    const name = session.name();
    return {
      model: app.config.model,
      thinkingLevel: app.thinkingLevel(),
      isStreaming: app.activity() === "prompt",
      isCompacting: app.isCompacting(),
      steeringMode: app.queue.mode("steering"),
      followUpMode: app.queue.mode("followUp"),
      ...(session.path === undefined ? {} : { sessionFile: session.path }),
      sessionId: session.id,
      ...(name === undefined ? {} : { sessionName: name }),
      autoCompactionEnabled: app.config.autoCompact,
      messageCount: app.messages().length,
      pendingMessageCount: app.queue.size(),
    };
  },
  get_messages: (_params, { app }) => ({ messages: [...app.messages()] }),
  set_model: ({ provider, modelId }, { app }) => app.setModel(provider, modelId),
  cycle_model: (_params, { app }) => app.cycleModel(),
  get_available_models: async (_params, { app }) => ({ models: [...(await app.models())] }),
  set_thinking_level: ({ level }, { app }) => app.setThinkingLevel(level),
  cycle_thinking_level(_params, { app }) {
    const levels = thinkingLevelsOf(app.config.model);
    const next = levels[(levels.indexOf(app.thinkingLevel()) + 1) % levels.length];
    if (!next || levels.length < 2) return null;
    app.setThinkingLevel(next);
    return { level: next };
  },
  get_available_thinking_levels: (_params, { app }) => ({ levels: thinkingLevelsOf(app.config.model) }),
  compact: ({ customInstructions }, { app }) => app.compact(customInstructions),
  set_auto_compaction: ({ enabled }, { app }) => app.setAuto({ autoCompact: enabled }),
  set_auto_retry: ({ enabled }, { app }) => app.setAuto({ autoRetry: enabled }),
  abort_retry: (_params, { app }) => app.abortRetry(),
  bash({ command, excludeFromContext }, { app, id, write, hold }) {
    const identity = id === undefined ? {} : { id };
    const onOutput = (delta: string) => write({ type: "bash_execution_update", ...identity, delta });
    return app.bash(command, { excludeFromContext, onOutput, hold });
  },
  abort_bash: (_params, { app }) => app.abortBash(),
  get_session_stats: (_params, { app }) => sessionStats(app),
  get_fork_messages: (_params, { app }) => {
    const session = app.session();
    return {
      messages: pathTo(session.entries(), session.leafId()).flatMap((entry) =>
        entry.type === "message" && entry.message.role === "user"
          ? [{ entryId: entry.id, text: textOf(entry.message.content) }]
          : [],
      ),
    };
  },
  get_last_assistant_text(_params, { app }) {
    for (const message of app.messages().toReversed()) {
      if (message.role !== "assistant") continue;
      const text = textOf(message.content);
      if (text.trim() !== "") return { text };
      // What was cut off or only calls tools is passed over; an empty answer is the last one all the same.
      if (message.stopReason === "stop") break;
    }
    return {};
  },
  get_commands: async (_params, { app }) => ({ commands: await app.commands() }),
};

/** A compaction takes nothing out of the queue, so a message has its turn when that is done; an abort leaves it in the queue. */
async function startBehind({ app, start }: Call): Promise<void> {
  const before = app.aborts();
  await app.idle();
  if (app.aborts() === before && app.queue.size() > 0) start(undefined);
}

async function enqueue(kind: QueueKind, { message, images }: RpcParams<"steer">, { app }: Call) {
  const text = await app.expand(message);
  if (text.trim() === "" && !images?.length) throw new AppError("usage", "'message' is empty");
  app.queue.add(kind, text, images);
  return { disposition: "queued" as const };
}

/** The text of a message's content. */
export function textOf(content: string | readonly { readonly type: string }[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => ("text" in block && typeof block.text === "string" ? block.text : "")).join("");
}
