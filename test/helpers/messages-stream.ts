// Builders of Messages stream events, each one string of SSE, in the shape Anthropic's API reference gives them.
import { type CallSpec, pieces, type TurnSpec } from "./chat-stream.ts";

/** What a thinking block of a built turn is signed with. */
export const signature = "U0lHTkFUVVJF";

/** One event with any JSON in it; its name is its type. */
export function messagesEvent(value: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

export function messageStart(input = 0, cached = 0): string {
  const usage = { input_tokens: input, cache_read_input_tokens: cached, output_tokens: 1 };
  const message = { id: "msg_test", type: "message", role: "assistant", content: [], stop_reason: null, usage };
  return messagesEvent({ type: "message_start", message });
}

function block(index: number, start: Record<string, unknown>, deltas: readonly Record<string, unknown>[]): string[] {
  return [
    messagesEvent({ type: "content_block_start", index, content_block: start }),
    ...deltas.map((delta) => messagesEvent({ type: "content_block_delta", index, delta })),
    messagesEvent({ type: "content_block_stop", index }),
  ];
}

export function textBlock(text: string, index = 0): string[] {
  return block(
    index,
    { type: "text", text: "" },
    pieces(text).map((piece) => ({ type: "text_delta", text: piece })),
  );
}

function thinkingBlock(thinking: string, index = 0): string[] {
  return block(index, { type: "thinking", thinking: "" }, [
    ...pieces(thinking).map((piece) => ({ type: "thinking_delta", thinking: piece })),
    { type: "signature_delta", signature },
  ]);
}

/** A whole call, its input in fragments of `size` characters. */
export function toolUseBlock(call: CallSpec, index = 0, size = 7): string[] {
  const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
  const fragments = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [""];
  return block(
    index,
    { type: "tool_use", id: call.id ?? `toolu_${index}`, name: call.name, input: {} },
    fragments.map((fragment) => ({ type: "input_json_delta", partial_json: fragment })),
  );
}

function messageEnd(stopReason: string, outputTokens = 1): string[] {
  const delta = { stop_reason: stopReason, stop_sequence: null };
  return [
    messagesEvent({ type: "message_delta", delta, usage: { output_tokens: outputTokens } }),
    messagesEvent({ type: "message_stop" }),
  ];
}

/** The words of the chat-completions API for how an answer ended. */
const stopReasons: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
};

/** A whole answer, one string for each event. */
export function messagesTurn(turn: TurnSpec): string[] {
  const calls = turn.calls ?? [];
  const { prompt = 0, completion = 1, cached = 0 } = turn.usage ?? {};
  const events = [messageStart(prompt - cached, cached)];
  let index = 0;
  if (turn.reasoning) events.push(...thinkingBlock(turn.reasoning, index++));
  if (turn.text) events.push(...textBlock(turn.text, index++));
  for (const call of calls) events.push(...toolUseBlock(call, index++));
  if (turn.finish === null) return events;
  const finish = turn.finish ?? (calls.length > 0 ? "tool_calls" : "stop");
  return [...events, ...messageEnd(stopReasons[finish] ?? finish, completion)];
}
