// A loopback chat-completions server for the bench, in a process of its own; prints its address and lives until its stdin closes.
// The first part of the path names the answer: POST /short/v1/chat/completions.

const head = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1767225600, model: "bench" };
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
});

function encode(chunks: readonly object[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${chunks.map((c) => `data: ${JSON.stringify(c)}\n\n`).join("")}data: [DONE]\n\n`);
}

/** A text in so many deltas. */
function answer(deltas: number): Uint8Array<ArrayBuffer> {
  const usage = { prompt_tokens: 100, completion_tokens: deltas, total_tokens: 100 + deltas };
  const chunks = [
    chunk({ role: "assistant", content: "" }),
    ...Array.from({ length: deltas }, (_, i) => chunk({ content: `word ${i}\n` })),
    chunk({}, "stop"),
    { ...head, choices: [], usage },
  ];
  return encode(chunks);
}

/** One call of `write` with so many bytes of arguments, in fragments of 20. */
function writeCall(bytes: number): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify({ path: "written.txt", content: "twenty { bytes here\n".repeat(bytes / 20) });
  const call = (fields: object) => chunk({ tool_calls: [{ index: 0, ...fields }] });
  const chunks = [call({ id: "call_bench", type: "function", function: { name: "write", arguments: "" } })];
  for (let at = 0; at < text.length; at += 20) {
    chunks.push(call({ function: { arguments: text.slice(at, at + 20) } }));
  }
  return encode([...chunks, chunk({}, "tool_calls")]);
}

/** One call of `bash`; the bench says which command. */
function bashCall(command: string): Uint8Array<ArrayBuffer> {
  const call = { name: "bash", arguments: JSON.stringify({ command }) };
  return encode([
    chunk({ role: "assistant", tool_calls: [{ index: 0, id: "call_bench", type: "function", function: call }] }),
    chunk({}, "tool_calls"),
  ]);
}

const answers: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  short: answer(3),
  long: answer(20_000),
  "arguments-256k": writeCall(256 * 1024),
  "arguments-1m": writeCall(1024 * 1024),
  flood: bashCall(process.env.BENCH_FLOOD ?? "true"),
};

/** Pieces as a network would cut them: without regard for events. */
async function* inPieces(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const size = 16_000;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Deltas for as long as somebody listens. */
async function* endless(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const bytes = encode(Array.from({ length: 100 }, (_, i) => chunk({ content: `word ${i}\n` })));
  for (;;) {
    yield bytes.subarray(0, bytes.length - "data: [DONE]\n\n".length) as Uint8Array<ArrayBuffer>;
    await Bun.sleep(1);
  }
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { messages } = (await request.json()) as { messages: { role: string }[] };
    const path = new URL(request.url).pathname;
    const name = path.split("/")[1]!;
    if (name === "endless") return new Response(endless(), { headers: { "content-type": "text/event-stream" } });
    const bytes = messages.at(-1)?.role === "tool" ? answers.short : answers[name];
    if (request.method !== "POST" || !path.endsWith("/chat/completions") || !bytes) {
      return new Response("no such answer", { status: 404 });
    }
    return new Response(inPieces(bytes), { headers: { "content-type": "text/event-stream" } });
  },
});

console.log(server.url.origin);
for await (const _ of Bun.stdin.stream()) {
  // Nothing is said here; the end of it is what counts.
}
process.exit(0);

export {};
