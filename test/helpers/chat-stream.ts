// Builders of chat-completions stream events, each one string of SSE, in the shape OpenAI's API reference gives them.

export interface CallSpec {
  readonly id?: string;
  readonly name: string;
  readonly arguments: Record<string, unknown> | string;
  /** Anything else the call's first delta carries, such as `extra_content`. */
  readonly extra?: Record<string, unknown>;
}

export interface TurnSpec {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly CallSpec[];
  /** Defaults to `tool_calls` with calls and `stop` without; `null` leaves it out, and every end with it on the Messages API. */
  readonly finish?: string | null;
  readonly usage?: { readonly prompt: number; readonly completion: number; readonly cached?: number };
  /** Whether `[DONE]` ends it; true by default. */
  readonly done?: boolean;
}

export const done = "data: [DONE]\n\n";

/** One `data:` event with any JSON in it. */
export function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function delta(fields: Record<string, unknown>, finish: string | null = null): string {
  return data({
    id: "chatcmpl-test",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: fields, finish_reason: finish }],
  });
}

export function textDelta(text: string): string {
  return delta({ content: text });
}

/** `field` is the name a provider gives its reasoning: `reasoning_content` or `reasoning`. */
export function reasoningDelta(text: string, field = "reasoning_content"): string {
  return delta({ [field]: text });
}

/** The deltas of one tool call: its head, then its arguments in fragments of `size` characters. */
export function toolCallDeltas(call: CallSpec, index = 0, size = 7): string[] {
  const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
  const id = call.id ?? `call_${index}`;
  const head = { index, id, type: "function", function: { name: call.name, arguments: "" }, ...call.extra };
  const events = [delta({ tool_calls: [head] })];
  for (let at = 0; at < text.length; at += size) {
    events.push(delta({ tool_calls: [{ index, function: { arguments: text.slice(at, at + size) } }] }));
  }
  return events;
}

export function finish(reason: string): string {
  return delta({}, reason);
}

export function usage(prompt: number, completion: number, cached = 0): string {
  const counts = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  return data({
    id: "chatcmpl-test",
    choices: [],
    usage: { ...counts, prompt_tokens_details: { cached_tokens: cached } },
  });
}

/** A whole answer, one string for each event. */
export function chatTurn(turn: TurnSpec): string[] {
  const calls = turn.calls ?? [];
  const events = [delta({ role: "assistant", content: "" })];
  if (turn.reasoning) events.push(...pieces(turn.reasoning).map((text) => reasoningDelta(text)));
  if (turn.text) events.push(...pieces(turn.text).map(textDelta));
  events.push(...calls.flatMap((call, index) => toolCallDeltas(call, index)));
  if (turn.finish !== null) events.push(finish(turn.finish ?? (calls.length > 0 ? "tool_calls" : "stop")));
  if (turn.usage) events.push(usage(turn.usage.prompt, turn.usage.completion, turn.usage.cached));
  if (turn.done ?? true) events.push(done);
  return events;
}

/** Words with the space before them, as models stream them. */
export function pieces(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
