// A loopback model server for the bench, in a process of its own; prints its address and lives until its stdin closes.
// The first part of the path names the answer, its end the API: POST /short/v1/chat/completions.
import { type Answer, chatCompletions, wires } from "./wires.ts";

/** A text in so many deltas. */
function words(deltas: number): Answer {
  return { text: Array.from({ length: deltas }, (_, i) => `word ${i}\n`) };
}

function call(name: string, input: object, id = "call_bench"): Answer {
  const text = JSON.stringify(input);
  // Fragments of 20 bytes, as a model would send them.
  return { call: { id, name, arguments: text.match(/.{1,20}/gs) ?? [] } };
}

function writeCall(bytes: number): Answer {
  return call("write", { path: "written.txt", content: "twenty { bytes here\n".repeat(bytes / 20) });
}

/** The bench says which, as JSON. */
const commands: readonly string[] = JSON.parse(process.env.BENCH_COMMANDS ?? "[]");

/** What is answered one after another, once as many results of tools have come; what follows is the short text. */
const answers: Readonly<Record<string, readonly Answer[]>> = {
  short: [],
  long: [words(20_000)],
  "arguments-256k": [writeCall(256 * 1024)],
  "arguments-1m": [writeCall(1024 * 1024)],
  flood: [call("bash", { command: process.env.BENCH_FLOOD ?? "true" })],
  tools: commands.map((command, i) => call("bash", { command }, `call_bench_${i}`)),
};

const encoded = new Map<string, Uint8Array<ArrayBuffer>>();

function encode(name: string, results: number, api: string): Uint8Array<ArrayBuffer> | undefined {
  const [turns, wire] = [answers[name], wires[api]];
  if (!turns || !wire) return undefined;
  const key = `${name} ${results} ${api}`;
  const bytes = encoded.get(key) ?? wire(turns[results] ?? words(3));
  encoded.set(key, bytes);
  return bytes;
}

/** Pieces as a network would cut them: without regard for events. */
async function* inPieces(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const size = 16_000;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Deltas for as long as somebody listens. */
async function* endless(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const events = new TextDecoder().decode(chatCompletions(words(100))).split(/(?<=\n\n)/);
  const deltas = new TextEncoder().encode(events.filter((event) => event.includes('"content":"word')).join(""));
  for (;;) {
    yield deltas;
    await Bun.sleep(1);
  }
}

const isResult = ({ role }: { role?: string }) => role === "tool";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const path = new URL(request.url).pathname;
    const name = path.split("/")[1] ?? "";
    const api = /\/(chat\/completions|responses|messages)$/.exec(path)?.[0] ?? "";
    if (request.method !== "POST") return new Response("no such answer", { status: 404 });
    const asked = (await request.json()) as { messages?: { role: string }[] };
    const body = name === "endless" ? endless() : encode(name, asked.messages?.filter(isResult).length ?? 0, api);
    if (!body) return new Response("no such answer", { status: 404 });
    return new Response(body instanceof Uint8Array ? inPieces(body) : body, {
      headers: { "content-type": "text/event-stream" },
    });
  },
});

console.log(server.url.origin);
for await (const _ of Bun.stdin.stream()) {
  // Nothing is said here; the end of it is what counts.
}
process.exit(0);
