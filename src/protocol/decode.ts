// Between JSON and the types of the protocol: what is known stays the very object that it is, what is not is kept whole as `unknown`. Decided
// by tags alone, since most records are pieces of a stream; `validate.ts` checks the fields.
import type { Entry } from "./entry.ts";
import type { AgentEvent, AssistantMessageEvent } from "./event.ts";
import type { Message, TextContent, ThinkingContent, ToolCall } from "./message.ts";
import type { AgentRecord, ReceivedRecord } from "./record.ts";
import type { RpcCommand, RpcCommandName } from "./rpc.ts";
import type { UiRequest, UiResponseCommand } from "./ui.ts";
import type { OrUnknown } from "./unknown.ts";

/** What a line of an agent's stdout says. `value` is not changed; where nothing in it is unknown, it is the result. */
export function decodeRecord(value: object): ReceivedRecord {
  return decode(value as Fields, "record") as unknown as ReceivedRecord;
}

/** The very JSON value that `record` was decoded from. */
export function encodeRecord(record: ReceivedRecord): object {
  return encode(record as unknown as Fields, "record");
}

/** A message, such as a program has stored by itself. */
export function decodeMessage(value: object): OrUnknown<Message> {
  return decode(value as Fields, "message") as unknown as OrUnknown<Message>;
}

/** The very JSON value that `message` was decoded from. */
export function encodeMessage(message: OrUnknown<Message>): object {
  return encode(message as unknown as Fields, "message");
}

/** A line of a session file behind its header; of version 3, see `readSession` for others. */
export function decodeEntry(value: object): OrUnknown<Entry> {
  return decode(value as Fields, "entry") as unknown as OrUnknown<Entry>;
}

/** The very JSON value that `entry` was decoded from. */
export function encodeEntry(entry: OrUnknown<Entry>): object {
  return encode(entry as unknown as Fields, "entry");
}

/** A line of a client's, as a program in the agent's place reads it. */
export function decodeCommand(value: object): OrUnknown<RpcCommand | UiResponseCommand> {
  return decode(value as Fields, "command") as unknown as OrUnknown<RpcCommand | UiResponseCommand>;
}

/** The very JSON value that `command` was decoded from. */
export function encodeCommand(command: OrUnknown<RpcCommand | UiResponseCommand>): object {
  return encode(command as unknown as Fields, "command");
}

type Fields = Readonly<Record<string, unknown>>;

/** What can stand somewhere: things with a tag, and things that only hold such. */
type Kind = "record" | "command" | "message" | "entry" | "block" | "step" | "result" | "messages" | "entries" | "tree";
/** A field that holds one thing of a kind, or a list of them. */
type Part = readonly [field: string, kind: Kind];

const none: readonly Part[] = [];
const message: readonly Part[] = [["message", "message"]];
const content: readonly Part[] = [["content", "block"]];

type Parts<Tag extends string> = Readonly<Record<Tag, readonly Part[]>>;

// A table has a row for every tag that is known, so a new one without a row is a type error.

const blocks: Parts<"image" | (TextContent | ThinkingContent | ToolCall)["type"]> = {
  text: none,
  thinking: none,
  image: none,
  toolCall: none,
};

const messages: Parts<Message["role"]> = {
  system: content,
  user: content,
  assistant: content,
  toolResult: content,
  bashExecution: none,
  custom: content,
  branchSummary: none,
  compactionSummary: none,
};

const entries: Parts<Entry["type"]> = {
  message,
  model_change: none,
  thinking_level_change: none,
  compaction: [["systemMessage", "message"]],
  branch_summary: none,
  custom: none,
  custom_message: content,
  label: none,
  session_info: none,
  usage: none,
  context_edit: none,
};

const steps: Parts<AssistantMessageEvent["type"]> = {
  text_start: none,
  text_delta: none,
  text_end: none,
  thinking_start: none,
  thinking_delta: none,
  thinking_end: none,
  toolcall_start: none,
  toolcall_delta: none,
  toolcall_end: [["toolCall", "block"]],
};

const events: Parts<AgentEvent["type"]> = {
  agent_start: none,
  agent_end: [["messages", "message"]],
  agent_settled: none,
  turn_start: none,
  turn_end: [...message, ["toolResults", "message"]],
  message_start: message,
  message_update: [["assistantMessageEvent", "step"]],
  message_end: message,
  tool_execution_start: none,
  tool_execution_update: [["partialResult", "result"]],
  tool_execution_end: [["result", "result"]],
  auto_retry_start: none,
  auto_retry_end: none,
  model_fallback: none,
  compaction_start: none,
  compaction_end: none,
  queue_update: none,
  entry_appended: [["entry", "entry"]],
  session_info_changed: none,
  thinking_level_changed: none,
};

const records: Parts<AgentRecord["type"]> = {
  ...events,
  summarization_retry_scheduled: none,
  summarization_retry_attempt_start: none,
  summarization_retry_finished: none,
  extension_error: none,
  bash_execution_update: none,
  session: none,
  // These two depend on a further tag.
  response: none,
  extension_ui_request: none,
};

const uiMethods: Parts<UiRequest["method"]> = {
  confirm: none,
  select: none,
  input: none,
  editor: none,
  notify: none,
  setStatus: none,
  setWidget: none,
  setTitle: none,
  set_editor_text: none,
};

/** What the `data` of an answer holds, where it holds anything with a tag. */
const answers: Partial<Parts<RpcCommandName>> = {
  get_messages: [["data", "messages"]],
  get_entries: [["data", "entries"]],
  get_tree: [["data", "tree"]],
};

const images: readonly Part[] = [["images", "block"]];

const commands: Parts<RpcCommandName | "extension_ui_response"> = {
  prompt: images,
  steer: images,
  follow_up: images,
  abort: none,
  clear_queue: none,
  new_session: none,
  get_state: none,
  get_messages: none,
  set_model: none,
  cycle_model: none,
  get_available_models: none,
  set_thinking_level: none,
  cycle_thinking_level: none,
  get_available_thinking_levels: none,
  set_steering_mode: none,
  set_follow_up_mode: none,
  compact: none,
  set_auto_compaction: none,
  set_auto_retry: none,
  abort_retry: none,
  bash: none,
  abort_bash: none,
  get_session_stats: none,
  export_html: none,
  switch_session: none,
  fork: none,
  clone: none,
  get_fork_messages: none,
  get_entries: none,
  get_tree: none,
  get_last_assistant_text: none,
  set_session_name: none,
  get_commands: none,
  extension_ui_response: none,
};

/** By the tags that stand on the wire, so not as objects, which have more keys than their own. */
const byTag = (parts: object) => new Map<unknown, readonly Part[]>(Object.entries(parts));
const known = {
  record: byTag(records),
  command: byTag(commands),
  message: byTag(messages),
  entry: byTag(entries),
  block: byTag(blocks),
  step: byTag(steps),
  uiMethod: byTag(uiMethods),
  answer: byTag(answers),
};

/** The parts of a thing that may hold something unknown; undefined when it is unknown itself. */
function partsOf(value: Fields, kind: Kind): readonly Part[] | undefined {
  switch (kind) {
    case "record":
      if (value.type === "response") return known.answer.get(value.command) ?? none;
      if (value.type === "extension_ui_request") return known.uiMethod.get(value.method);
      return known.record.get(value.type);
    case "message":
      return known.message.get(value.role);
    case "command":
    case "entry":
    case "block":
    case "step":
      return known[kind].get(value.type);
    case "result":
      return content;
    case "messages":
      return [["messages", "message"]];
    case "entries":
      return [["entries", "entry"]];
    case "tree":
      return none;
  }
}

/** Turns a thing and what is in it. */
export type Turn = (value: Fields, kind: Kind) => Fields;

function decode(value: Fields, kind: Kind): Fields {
  const parts = partsOf(value, kind);
  return parts ? through(value, kind, parts, decode) : toUnknown(value, kind);
}

function toUnknown(raw: Fields, kind: Kind): Fields {
  if (kind === "message") return { type: "unknown", role: "unknown", raw };
  if (kind !== "entry") return { type: "unknown", raw };
  const { id, parentId, timestamp } = raw;
  return {
    type: "unknown",
    id: typeof id === "string" ? id : "",
    parentId: typeof parentId === "string" ? parentId : null,
    timestamp: typeof timestamp === "string" ? timestamp : "",
    raw,
  };
}

/** Where something with a tag stands, `unknown` can only be what `toUnknown` made: a thing with that tag on the wire is inside of one. */
function encode(value: Fields, kind: Kind): Fields {
  if ((kind === "message" ? value.role : value.type) === "unknown") return value.raw as Fields;
  return through(value, kind, partsOf(value, kind) ?? none, encode);
}

/** The same object when nothing in it changes, a copy otherwise. */
function through(value: Fields, kind: Kind, parts: readonly Part[], turn: Turn): Fields {
  if (kind === "tree") return throughTree(value, turn);
  let result = value;
  for (const [field, inner] of parts) {
    const before = value[field];
    const after = Array.isArray(before) ? throughList(before, inner, turn) : throughOne(before, inner, turn);
    if (after === before) continue;
    if (result === value) result = { ...value };
    (result as Record<string, unknown>)[field] = after;
  }
  return result;
}

function throughOne(value: unknown, kind: Kind, turn: Turn): unknown {
  return typeof value === "object" && value !== null ? turn(value as Fields, kind) : value;
}

function throughList(list: readonly unknown[], kind: Kind, turn: Turn): readonly unknown[] {
  let result: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const after = throughOne(list[i], kind, turn);
    if (after === list[i]) continue;
    result ??= [...list];
    result[i] = after;
  }
  return result ?? list;
}

interface Node {
  entry?: unknown;
  children?: Node[];
}

/** A tree is as deep as its session is long, too deep for a function that calls itself. */
function throughTree(value: Fields, turn: Turn): Fields {
  if (!Array.isArray(value.tree)) return value;
  const copies = (nodes: readonly Node[]) => nodes.map((node) => ({ ...node }));
  const tree = copies(value.tree);
  const open = [...tree];
  for (let node = open.pop(); node; node = open.pop()) {
    node.entry = throughOne(node.entry, "entry", turn);
    if (!Array.isArray(node.children)) continue;
    node.children = copies(node.children);
    for (const child of node.children) open.push(child);
  }
  return { ...value, tree };
}
