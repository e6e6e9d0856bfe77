// A real HTTP proxy on loopback (CONNECT and absolute-form requests) that records what passes. Every host name leads to one port of this
// machine, so that a client's request for a host out in the world arrives at a server of the test's own.
import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

export interface ProxyOptions {
  /** Where everything is sent on to. */
  readonly target: number;
  /** `user:password` it asks for. */
  readonly credentials?: string;
  /** The status line's rest it refuses every request with, such as `502 Bad Gateway`. */
  readonly refuse?: string;
  /** What a refusal's body says, made from the request's head. */
  readonly refusalBody?: (head: string) => string;
  /** Takes requests and never answers. */
  readonly silent?: boolean;
  /** The proxy itself speaks TLS with this certificate. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface ProxiedRequest {
  readonly method: string;
  /** `host:port` of a tunnel, the whole URL of anything else. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ProxyServer extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly ProxiedRequest[];
  /** Resolves with the first request. */
  readonly first: Promise<ProxiedRequest>;
}

export async function startProxy(options: ProxyOptions): Promise<ProxyServer> {
  const requests: ProxiedRequest[] = [];
  const sockets = new Set<Socket>();
  const first = Promise.withResolvers<ProxiedRequest>();

  function track(socket: Socket): Socket {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    return socket;
  }

  function handle(head: string, rest: Buffer, socket: Socket): void {
    const request = parseHead(head);
    requests.push(request);
    first.resolve(request);
    if (options.silent) return;
    const wanted = options.credentials && `Basic ${btoa(options.credentials)}`;
    const refusal =
      options.refuse ??
      (wanted && request.headers["proxy-authorization"] !== wanted ? "407 Proxy Authentication Required" : undefined);
    if (refusal !== undefined) {
      const body = options.refusalBody?.(head) ?? "";
      socket.end(`HTTP/1.1 ${refusal}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
      return;
    }
    const upstream = track(connect(options.target, "127.0.0.1"));
    upstream.on("connect", () => {
      if (request.method === "CONNECT") socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      else upstream.write(toOriginForm(head));
      upstream.write(rest);
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on("close", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
  }

  function accept(socket: Socket): void {
    track(socket);
    let received: Buffer = Buffer.alloc(0);
    const onData = (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.off("data", onData);
      handle(received.subarray(0, end).toString("latin1"), received.subarray(end + 4), socket);
    };
    socket.on("data", onData);
  }

  const server = options.tls ? createTlsServer(options.tls, accept) : createServer(accept);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    requests,
    first: first.promise,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function parseHead(head: string): ProxiedRequest {
  const [line = "", ...rest] = head.split("\r\n");
  const [method = "", target = ""] = line.split(" ");
  const headers = rest.map((text) => {
    const colon = text.indexOf(":");
    return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()];
  });
  return { method, target, headers: Object.fromEntries(headers) };
}

/** The head as the server gets it: path only, nothing meant for the proxy, one request a connection. */
function toOriginForm(head: string): string {
  const [line = "", ...rest] = head.split("\r\n");
  const [method, target = "", version] = line.split(" ");
  const { pathname, search } = new URL(target);
  const kept = rest.filter((text) => !/^(?:proxy-|connection:)/i.test(text));
  return [`${method} ${pathname}${search} ${version}`, ...kept, "connection: close", "", ""].join("\r\n");
}
