// An MCP server over streamable HTTP on loopback, in this process, so that a test sees the requests as they come.
import { createMcpPeer, type McpPeer, type McpServerSpec } from "./mcp-peer.ts";

export interface HttpServerSpec extends McpServerSpec {
  /** Headers that every request must have; 401 otherwise. */
  readonly requires?: Readonly<Record<string, string>>;
  /** Answers are single JSON documents instead of event streams. */
  readonly json?: boolean;
  /** Every session is forgotten after this many calls of tools, and 404 from then on. */
  readonly forgetsAfterCalls?: number;
}

export interface HttpRequestSeen {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
}

export interface McpHttpServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly HttpRequestSeen[];
}

interface Session {
  readonly peer: McpPeer;
  /** By the id of a request: where its answer, and what is said before it, goes. */
  readonly waiting: Map<unknown, (message: Record<string, unknown>) => void>;
  calls: number;
}

export function startMcpHttpServer(spec: HttpServerSpec): McpHttpServer {
  const requests: HttpRequestSeen[] = [];
  const sessions = new Map<string, Session>();
  /** What the server says of itself, on the stream that a GET opened. */
  const listeners = new Set<ReadableStreamDefaultController<string>>();
  const encode = (message: unknown) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

  function createSession(): Session {
    const waiting: Session["waiting"] = new Map();
    const peer = createMcpPeer(spec, {
      life: 1,
      die: () => {
        for (const end of waiting.values()) end({ end: true });
      },
      send(message) {
        const to = waiting.get(message.id);
        if (to) return to(message);
        // Progress belongs to a call; with one call at a time it is the only one that waits.
        const [only] = waiting.values();
        if (message.method === "notifications/progress" && only) return only(message);
        for (const controller of listeners) controller.enqueue(encode(message));
      },
    });
    return { peer, waiting, calls: 0 };
  }

  /** The messages that answer a request, the last one being the answer itself. */
  function answer(session: Session, message: Record<string, unknown>, headers: Record<string, string>) {
    const done = ({ method }: Record<string, unknown>) => method === undefined;
    if (spec.json) {
      const { promise, resolve } = Promise.withResolvers<Response>();
      session.waiting.set(message.id, (part) => {
        if (!done(part)) return;
        session.waiting.delete(message.id);
        resolve(Response.json(part, { headers }));
      });
      void session.peer.handle(message);
      return promise;
    }
    const body = new ReadableStream<string>({
      start(controller) {
        session.waiting.set(message.id, (part) => {
          if (!part.end) controller.enqueue(encode(part));
          if (!done(part)) return;
          session.waiting.delete(message.id);
          controller.close();
        });
        void session.peer.handle(message);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream", ...headers } });
  }

  async function post(request: Request, message: Record<string, unknown>): Promise<Response> {
    const given = request.headers.get("mcp-session-id");
    const id = message.method === "initialize" ? crypto.randomUUID() : given;
    if (id === null) return new Response("no session", { status: 400 });
    if (message.method === "initialize") sessions.set(id, createSession());
    const session = sessions.get(id);
    if (!session) return new Response("no such session", { status: 404 });
    if (message.method === "tools/call" && session.calls++ >= (spec.forgetsAfterCalls ?? Number.POSITIVE_INFINITY)) {
      sessions.delete(id);
      return new Response("no such session", { status: 404 });
    }
    if (message.id === undefined || message.method === undefined) {
      void session.peer.handle(message);
      return new Response(null, { status: 202 });
    }
    return answer(session, message, { "mcp-session-id": id });
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { method } = request;
      const headers = Object.fromEntries(request.headers);
      const body = method === "POST" ? ((await request.json()) as Record<string, unknown>) : undefined;
      requests.push({ method, headers, body });
      const lacks = Object.entries(spec.requires ?? {}).some(([name, value]) => headers[name.toLowerCase()] !== value);
      if (lacks) return new Response("who are you?", { status: 401 });
      if (body) return post(request, body);
      if (method === "DELETE") {
        sessions.delete(request.headers.get("mcp-session-id") ?? "");
        return new Response(null, { status: 200 });
      }
      let mine: ReadableStreamDefaultController<string> | undefined;
      const stream = new ReadableStream<string>({
        start(controller) {
          mine = controller;
          listeners.add(controller);
          // Headers go out with the first bytes.
          controller.enqueue(":\n\n");
        },
        cancel: () => void listeners.delete(mine!),
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
