// A real HTTP server on loopback that answers like a model provider, by script: raw TCP underneath, so that a test decides what each
// network write holds, when it goes out and how the connection ends. Records every request and checks what must hold for all of them.
// By hand: `bun test/helpers/replay-server.ts script.json` prints its URL, then each request as a line of JSON.
import { createServer, type Socket } from "node:net";
import { chatTurn, type TurnSpec } from "./chat-stream.ts";
import { messagesTurn } from "./messages-stream.ts";
import { checkRequest } from "./request-invariants.ts";

/** One network write, or a promise: what follows it waits until the test resolves it. */
export type Part = string | Uint8Array | Promise<unknown>;

export interface Answer {
  readonly status?: number;
  /** Added to `content-type: text/event-stream`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a generator, each part is asked for when those before it have been written. */
  readonly body?: string | Iterable<Part>;
  /** The body ends by its chunked coding (default) or by the end of the connection. */
  readonly framing?: "chunked" | "close";
  /**
   * What follows the body: its proper end (default), the connection's end with the body left open, its reset, or nothing at all.
   * With framing `close`, `end` and `fin` are the same. A reset may overtake what was written before it, unless a promise holds it back.
   */
  readonly ending?: "end" | "fin" | "reset" | "silent";
}

/** `silent` takes the request and never sends a byte; `refuse` closes the connection instead of an answer; a turn is a whole good answer in the API asked. */
export type Reply = Answer | "silent" | "refuse" | { readonly turn: TurnSpec };

export type Script = readonly Reply[] | ((request: RecordedRequest, position: number) => Reply | Promise<Reply>);

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as JSON, or as text where it is not. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
  readonly text: string;
  /** Resolves when the client's connection has ended, such as after an abort. */
  readonly closed: Promise<void>;
}

export interface ReplayServer extends AsyncDisposable {
  /** The base URL for a client, without a slash at its end. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** What was wrong with the requests; tests expect it to be empty. */
  readonly problems: readonly string[];
  /** The request with this position, as soon as it has arrived. */
  request(position: number): Promise<RecordedRequest>;
}

export interface ReplayOptions {
  readonly port?: number;
  readonly onRequest?: (request: RecordedRequest) => void;
}

/** A promise for a script, and the function that resolves it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Each byte of `body` as a write of its own. */
export function byteByByte(body: string | readonly string[]): Uint8Array[] {
  return [...Buffer.from(typeof body === "string" ? body : body.join(""))].map((byte) => Uint8Array.of(byte));
}

/** `body` in writes that begin at these byte offsets. */
export function splitAt(body: string | Uint8Array, ...offsets: number[]): Uint8Array[] {
  const bytes = Buffer.from(body);
  const cuts = [0, ...offsets, bytes.length];
  return cuts.slice(1).map((end, i) => bytes.subarray(cuts[i], end));
}

/** A refusal with a JSON body. */
export function refusal(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

export async function startReplayServer(script: Script, options: ReplayOptions = {}): Promise<ReplayServer> {
  const requests: RecordedRequest[] = [];
  const problems: string[] = [];
  const sockets = new Set<Socket>();
  const arrivals = new Map<number, (request: RecordedRequest) => void>();

  async function reply(request: RecordedRequest, bytes: Uint8Array, socket: Socket): Promise<void> {
    const position = requests.push(request) - 1;
    const { method, path } = request;
    problems.push(...checkRequest(method, path, bytes).map((problem) => `request ${position}: ${problem}`));
    options.onRequest?.(request);
    arrivals.get(position)?.(request);
    const next = typeof script === "function" ? await script(request, position) : script[position];
    if (next === undefined) problems.push(`request ${position}: the script has no answer left`);
    await send(next ?? refusal(500, { error: { message: "the script has no answer left" } }), socket, request);
  }

  const server = createServer((socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.on("close", () => {
      sockets.delete(socket);
      resolve();
    });
    socket.on("error", () => {});
    let received: Buffer = Buffer.alloc(0);
    let answered: Promise<void> = Promise.resolve();
    socket.on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      for (let parsed = parseRequest(received); parsed; parsed = parseRequest(received)) {
        const { head, body } = parsed;
        received = received.subarray(parsed.length);
        const request = { ...head, ...readBody(body), closed };
        answered = answered
          .then(() => reply(request, body, socket))
          .catch((error) => {
            problems.push(String(error));
            socket.destroy();
          });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    problems,
    request(position) {
      const known = requests[position];
      return known ? Promise.resolve(known) : new Promise((resolve) => arrivals.set(position, resolve));
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function send(reply: Reply, socket: Socket, { path, closed }: RecordedRequest): Promise<void> {
  const write = (bytes: Buffer) => writePacket(socket, bytes, closed);
  if (reply === "silent") return;
  if (reply === "refuse") {
    socket.destroy();
    return;
  }
  const answer: Answer = "turn" in reply ? { body: toEvents(reply.turn, path) } : reply;
  const { status = 200, body = [], framing = "chunked", ending = "end" } = answer;
  const headers = {
    "content-type": "text/event-stream",
    ...(framing === "chunked" ? { "transfer-encoding": "chunked" } : { connection: "close" }),
    ...answer.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  await write(Buffer.from(`HTTP/1.1 ${status} Scripted\r\n${lines.join("")}\r\n`));
  for (const part of typeof body === "string" ? [body] : body) {
    if (part instanceof Promise) await Promise.race([part, closed]);
    else if (part.length > 0) await write(framing === "chunked" ? toHttpChunk(part) : Buffer.from(part));
  }
  if (ending === "reset") socket.resetAndDestroy();
  else if (ending === "fin" || (ending === "end" && framing === "close")) socket.end();
  else if (ending === "end") await write(Buffer.from("0\r\n\r\n"));
}

/** A turn in the words of the API that was asked. */
function toEvents(turn: TurnSpec, path: string): string[] {
  return path.endsWith("/messages") ? messagesTurn(turn) : chatTurn(turn);
}

function toHttpChunk(part: string | Uint8Array): Buffer {
  const bytes = Buffer.from(part);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

/** One packet: the kernel has it before this resolves, and the event loop has turned, so that a reader in this process sees it alone. */
async function writePacket(socket: Socket, bytes: Buffer, closed: Promise<void>): Promise<void> {
  if (socket.destroyed) return;
  const written = new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  await Promise.race([written, closed]);
  await new Promise((resolve) => setImmediate(resolve));
}

function parseRequest(received: Buffer) {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = received.subarray(0, end).toString("latin1").split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = end + 4 + Number(headers["content-length"] ?? 0);
  if (received.length < length) return undefined;
  return { head: { method, path, headers }, body: received.subarray(end + 4, length), length };
}

function readBody(bytes: Uint8Array): Pick<RecordedRequest, "body" | "text"> {
  const text = new TextDecoder().decode(bytes);
  try {
    return { body: JSON.parse(text), text };
  } catch {
    return { body: text, text };
  }
}

/** A script from a file: a JSON array of replies, whose bodies hold strings only. */
async function loadScript(path: string): Promise<Script> {
  const script: unknown = await Bun.file(path).json();
  if (!Array.isArray(script)) throw new Error(`${path}: a script is a JSON array of replies`);
  return script as Reply[];
}

if (import.meta.main) {
  const [path, port = "0"] = process.argv.slice(2);
  if (path === undefined) throw new Error("usage: bun test/helpers/replay-server.ts script.json [port]");
  const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
  const server = await startReplayServer(await loadScript(path), {
    port: Number(port),
    onRequest: ({ method, path, headers, body, text }) =>
      print({
        method,
        path,
        headers: { ...headers, authorization: undefined, "x-api-key": undefined },
        body,
        problems: checkRequest(method, path, Buffer.from(text)),
      }),
  });
  print({ url: server.url });
}
