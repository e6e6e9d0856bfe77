// One answer of a model in the words of the three streaming APIs that coding agents speak: the least that each API's reference calls a whole answer.

/** What a model answers: a text, or one call of a tool; both in pieces as they are streamed. */
export type Answer = { readonly text: readonly string[] } | { readonly call: Call };

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: readonly string[];
}

/** The bytes of a whole stream of events. */
export type Wire = (answer: Answer) => Uint8Array<ArrayBuffer>;

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

const model = "bench";
const inputTokens = 100;

/** OpenAI's POST /chat/completions. */
export const chatCompletions: Wire = (answer) => {
  const chunk = (delta: object, finish_reason: string | null = null) => chatChunk([{ index: 0, delta, finish_reason }]);
  const fragment = (fields: object) => chunk({ tool_calls: [{ index: 0, ...fields }] });
  const body =
    "text" in answer
      ? [chunk({ role: "assistant", content: "" }), ...answer.text.map((content) => chunk({ content }))]
      : [
          fragment({ id: answer.call.id, type: "function", function: { name: answer.call.name, arguments: "" } }),
          ...answer.call.arguments.map((piece) => fragment({ function: { arguments: piece } })),
        ];
  const output = lengthOf(answer);
  const usage = { prompt_tokens: inputTokens, completion_tokens: output, total_tokens: inputTokens + output };
  const events = [...body, chunk({}, "text" in answer ? "stop" : "tool_calls"), chatChunk([], { usage })];
  return encode([...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), "data: [DONE]\n\n"]);
};

function chatChunk(choices: readonly object[], rest: object = {}): object {
  return { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1767225600, model, choices, ...rest };
}

/** OpenAI's POST /responses. */
const responses: Wire = (answer) => {
  const place = { output_index: 0, item_id: "item_bench" };
  const [begun, deltas, item] = "text" in answer ? textItem(answer.text, place) : callItem(answer.call, place);
  const usage = { input_tokens: inputTokens, output_tokens: lengthOf(answer) };
  const response = { id: "resp_bench", object: "response", created_at: 1767225600, model, output: [] as object[] };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item: begun },
    ...deltas,
    { type: "response.output_item.done", output_index: 0, item },
    {
      type: "response.completed",
      response: {
        ...response,
        status: "completed",
        output: [item],
        usage: {
          ...usage,
          total_tokens: usage.input_tokens + usage.output_tokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 0 },
        },
      },
    },
  ];
  return encode(events.map((event, i) => namedEvent({ ...event, sequence_number: i })));
};

/** How it is announced, the events that fill it, how it is at the end. */
type Item = readonly [begun: object, events: readonly Event[], done: object];

function textItem(pieces: readonly string[], place: { item_id: string }): Item {
  const message = { type: "message", id: place.item_id, role: "assistant" };
  const at = { ...place, content_index: 0 };
  const part = (text: string) => ({ type: "output_text", text, annotations: [] });
  const text = pieces.join("");
  return [
    { ...message, status: "in_progress", content: [] },
    [
      { type: "response.content_part.added", ...at, part: part("") },
      ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
      { type: "response.output_text.done", ...at, text },
      { type: "response.content_part.done", ...at, part: part(text) },
    ],
    { ...message, status: "completed", content: [part(text)] },
  ];
}

function callItem(call: Call, place: { item_id: string }): Item {
  const item = { type: "function_call", id: place.item_id, call_id: call.id, name: call.name };
  const whole = call.arguments.join("");
  return [
    { ...item, status: "in_progress", arguments: "" },
    [
      ...call.arguments.map((delta) => ({ type: "response.function_call_arguments.delta", ...place, delta })),
      { type: "response.function_call_arguments.done", ...place, arguments: whole },
    ],
    { ...item, status: "completed", arguments: whole },
  ];
}

/** Anthropic's POST /messages. */
const messages: Wire = (answer) => {
  const [block, deltas] =
    "text" in answer
      ? [{ type: "text", text: "" }, answer.text.map((text) => ({ type: "text_delta", text }))]
      : [
          { type: "tool_use", id: answer.call.id, name: answer.call.name, input: {} },
          answer.call.arguments.map((partial_json) => ({ type: "input_json_delta", partial_json })),
        ];
  const message = { id: "msg_bench", type: "message", role: "assistant", model, content: [] };
  const usage = { input_tokens: inputTokens, output_tokens: 1 };
  const events = [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    { type: "content_block_start", index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "text" in answer ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: lengthOf(answer) },
    },
    { type: "message_stop" },
  ];
  return encode(events.map(namedEvent));
};

/** By the end of the path that a client asks. */
export const wires: Readonly<Record<string, Wire>> = {
  "/chat/completions": chatCompletions,
  "/responses": responses,
  "/messages": messages,
};

function namedEvent(event: Event): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function lengthOf(answer: Answer): number {
  return "text" in answer ? answer.text.length : answer.call.arguments.length;
}

function encode(events: readonly string[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(events.join(""));
}
