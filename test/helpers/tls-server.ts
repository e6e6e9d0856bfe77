// An HTTPS server on loopback with a certificate for `api.provider.test` and `localhost`, signed by the tests' own authority. It answers
// every request like a model that says "over TLS".
import { readFileSync } from "node:fs";
import { chatTurn } from "./chat-stream.ts";

const folder = `${import.meta.dir}/../fixtures/tls`;

/** The path of a file in the fixtures: `ca.pem`, `server.pem`, `server.key`, `client.pem` or `client.key`. */
export function pemPath(name: string): string {
  return `${folder}/${name}`;
}

export function pem(name: string): string {
  return readFileSync(pemPath(name), "utf8");
}

export interface TlsServer extends AsyncDisposable {
  readonly port: number;
  /** The headers of each request. */
  readonly requests: readonly Headers[];
}

export function startTlsServer(options: { requireClientCert?: boolean } = {}): TlsServer {
  const requests: Headers[] = [];
  const client = options.requireClientCert ? { ca: pem("ca.pem"), requestCert: true, rejectUnauthorized: true } : {};
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: pem("server.pem"), key: pem("server.key"), ...client },
    fetch(request) {
      requests.push(request.headers);
      const body = chatTurn({ text: "over TLS", usage: { prompt: 1, completion: 2 } }).join("");
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    port: server.port as number,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
