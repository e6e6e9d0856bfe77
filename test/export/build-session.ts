// Builds the entries of a session, one behind the other.
import type { PageSource } from "../../src/export/page.ts";
import type { Entry, EntryDraft } from "../../src/protocol/entry.ts";
import type { AssistantMessage, ToolCall, ToolResultMessage, Usage } from "../../src/protocol/message.ts";

export interface SessionBuilder {
  readonly entries: Entry[];
  /** Puts an entry behind the leaf; the result is its id. */
  add(draft: EntryDraft): string;
  user(text: string): string;
  answer(content: AssistantMessage["content"], more?: Partial<AssistantMessage>): string;
  result(callId: string, text: string, more?: Partial<ToolResultMessage>): string;
  /** Goes on from another entry. */
  moveTo(id: string | null): void;
  source(more?: Partial<PageSource>): PageSource;
}

const begin = Date.parse("2026-11-30T08:15:00Z");

export function buildSession(): SessionBuilder {
  const entries: Entry[] = [];
  let leaf: string | null = null;
  const timestamp = () => begin + entries.length * 60_000;
  const builder: SessionBuilder = {
    entries,
    add(draft) {
      const id = (entries.length + 1).toString(16).padStart(8, "0");
      entries.push({ ...draft, id, parentId: leaf, timestamp: new Date(timestamp()).toISOString() } as Entry);
      leaf = id;
      return id;
    },
    user: (text) =>
      builder.add({
        type: "message",
        message: { role: "user", content: [{ type: "text", text }], timestamp: timestamp() },
      }),
    answer: (content, more = {}) =>
      builder.add({
        type: "message",
        message: {
          role: "assistant",
          content,
          api: "test",
          provider: "testing",
          model: "model-1",
          usage: usage(1000, 3000, 200),
          stopReason: "stop",
          timestamp: timestamp(),
          ...more,
        },
      }),
    result: (toolCallId, text, more = {}) =>
      builder.add({
        type: "message",
        message: {
          role: "toolResult",
          toolCallId,
          toolName: "bash",
          content: [{ type: "text", text }],
          isError: false,
          timestamp: timestamp(),
          ...more,
        },
      }),
    moveTo(id) {
      leaf = id;
    },
    source: (more = {}) => ({ id: "01a2-test", cwd: "/home/ada/shop", entries, leafId: leaf, ...more }),
  };
  return builder;
}

/** At a dollar for each thousand tokens. */
export function usage(input: number, cacheRead: number, output: number): Usage {
  const totalTokens = input + cacheRead + output;
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: totalTokens / 1000 };
  return { input, output, cacheRead, cacheWrite: 0, totalTokens, cost };
}

export function call(id: string, name: string, args: ToolCall["arguments"]): ToolCall {
  return { type: "toolCall", id, name, arguments: args };
}
