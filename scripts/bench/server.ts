// A loopback chat-completions server for the bench, in a process of its own; prints its address and lives until its stdin closes.
// The first part of the path names the answer: POST /short/v1/chat/completions.

function answer(deltas: number): Uint8Array<ArrayBuffer> {
  const head = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1767225600, model: "bench" };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const usage = { prompt_tokens: 100, completion_tokens: deltas, total_tokens: 100 + deltas };
  const chunks = [
    chunk({ role: "assistant", content: "" }),
    ...Array.from({ length: deltas }, (_, i) => chunk({ content: `word ${i}\n` })),
    chunk({}, "stop"),
    { ...head, choices: [], usage },
  ];
  return new TextEncoder().encode(`${chunks.map((c) => `data: ${JSON.stringify(c)}\n\n`).join("")}data: [DONE]\n\n`);
}

const answers: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  short: answer(3),
  long: answer(20_000),
};

/** Pieces as a network would cut them: without regard for events. */
async function* inPieces(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const size = 16_000;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    await request.arrayBuffer();
    const path = new URL(request.url).pathname;
    const bytes = answers[path.split("/")[1]!];
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
