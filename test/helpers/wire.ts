// The wire APIs side by side, so that one suite can show the same of each: how they are asked, and how their events look.
import { createAnthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import type { Transport } from "../../src/providers/http.ts";
import { createOpenAiChat } from "../../src/providers/openai-chat/index.ts";
import type { Provider, ProviderSettings } from "../../src/providers/provider.ts";
import { chatTurn, data, textDelta, toolCallDeltas } from "./chat-stream.ts";
import { messageStart, messagesEvent, messagesTurn, textBlock, toolUseBlock } from "./messages-stream.ts";

type Json = Record<string, unknown>;

export interface Wire {
  readonly name: string;
  readonly api: string;
  readonly create: (settings: ProviderSettings, transport: Transport) => Provider;
  /** The end of the URL that is asked. */
  readonly path: string;
  /** A provider of the catalog that speaks it, and the variable of its key. */
  readonly provider: string;
  readonly keyEnv: string;
  /** The events of an answer that says "one two", then begins a call of `bash` and stops in the middle of its arguments. */
  readonly half: readonly string[];
  /** The events of an answer that stops after its first word, "one". */
  readonly firstWord: readonly string[];
  /** The events of an answer that says `text`. */
  readonly whole: (text: string) => string[];
  /** The same answer as a document, from a server that does not stream. */
  readonly wholeDocument: (text: string) => string;
  /** Two calls of `read`, for the paths 1 and 2, that both claim the first index. */
  readonly oneIndex: readonly string[];
  /** An event that reports a failure inside a stream. */
  readonly error: (type: string, message: string) => string;
  /** The conversation that a request's body carries, in a few words: `user hi`, `assistant x (thought) +a`, `result a ok`. */
  readonly outline: (body: Json) => string[];
}

const read = (id: string, path: string) => ({ id, name: "read", arguments: { path } });
const cut = { id: "cut", name: "bash", arguments: '{"command":"rm -rf' };

export const chatWire: Wire = {
  name: "openai-chat",
  api: "openai-completions",
  create: createOpenAiChat,
  path: "/chat/completions",
  provider: "openai",
  keyEnv: "OPENAI_API_KEY",
  half: [textDelta("one"), textDelta(" two"), ...toolCallDeltas(cut)],
  firstWord: [textDelta("one")],
  whole: (text) => chatTurn({ text }),
  wholeDocument: (content) =>
    JSON.stringify(
      { choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] },
      null,
      2,
    ),
  oneIndex: [
    ...toolCallDeltas(read("a", "1"), 0),
    ...toolCallDeltas(read("b", "2"), 0),
    ...chatTurn({ finish: "tool_calls" }).slice(-2),
  ],
  error: (type, message) => data({ error: { type, message } }),
  outline: ({ messages }) =>
    (messages as Json[]).flatMap((message) => {
      const { role, content } = message;
      if (role === "system") return [];
      const words = typeof content === "string" && content !== "" ? [content] : [];
      if (role === "tool") return [[`result ${message.tool_call_id}`, ...words].join(" ")];
      const thinking = message.reasoning_content ?? message.reasoning;
      const calls = (message.tool_calls ?? []) as { id: string }[];
      const thought = thinking === undefined ? [] : [`(${thinking})`];
      return [[role, ...thought, ...words, ...calls.map(({ id }) => `+${id}`)].join(" ")];
    }),
};

export const messagesWire: Wire = {
  name: "anthropic-messages",
  api: "anthropic-messages",
  create: createAnthropicMessages,
  path: "/messages",
  provider: "anthropic",
  keyEnv: "ANTHROPIC_API_KEY",
  half: [messageStart(), ...textBlock("one two"), ...toolUseBlock(cut, 1).slice(0, -1)],
  firstWord: [messageStart(), ...textBlock("one").slice(0, -1)],
  whole: (text) => messagesTurn({ text }),
  wholeDocument: (text) =>
    JSON.stringify({ type: "message", content: [{ type: "text", text }], stop_reason: "end_turn" }, null, 2),
  oneIndex: [
    messageStart(),
    ...toolUseBlock(read("a", "1"), 0).slice(0, -1),
    ...toolUseBlock(read("b", "2"), 0),
    ...messagesTurn({ finish: "tool_calls" }).slice(-2),
  ],
  error: (type, message) => messagesEvent({ type: "error", error: { type, message } }),
  outline: ({ messages }) =>
    (messages as { role: string; content: Json[] }[]).flatMap(({ role, content }) => {
      const results = content.filter(({ type }) => type === "tool_result");
      const words = content.flatMap((block) => {
        if (block.type === "text") return [block.text];
        if (block.type === "thinking") return [`(${block.thinking})`];
        return block.type === "tool_use" ? [`+${block.id}`] : [];
      });
      const said = words.length > 0 ? [[role, ...words].join(" ")] : [];
      return [...results.map((block) => `result ${block.tool_use_id} ${textOf(block)}`), ...said];
    }),
};

export const wires = [chatWire, messagesWire];

function textOf({ content }: Json): string {
  return (content as { text: string }[]).map(({ text }) => text).join("");
}

/** What the key of a binary under test is. */
export const testKey = "sk-test-0123456789abcdef";

/** The variables by which the compiled binary reaches the provider of this API at `url`. */
export function reach({ provider, keyEnv }: Pick<Wire, "provider" | "keyEnv">, url: string): Record<string, string> {
  return { PI_PROVIDER: provider, [keyEnv]: testKey, PI_BASE_URL: url };
}
