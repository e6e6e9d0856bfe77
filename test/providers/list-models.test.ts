// A provider's own list of models, over the same network as its answers.
import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { listModels } from "../../src/providers/list-models.ts";
import type { AppError } from "../../src/util/error.ts";
import { startProxy } from "../helpers/proxy-server.ts";
import { pem } from "../helpers/tls-server.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const key = "test-key-0123456789abcdef";
const tls = { ca: [pem("ca.pem")] };

async function failure(promise: Promise<unknown>): Promise<AppError> {
  return promise.then(
    () => expect.unreachable(),
    (reason) => reason,
  );
}

function serve(answer: (request: Request) => Response) {
  const options = { port: 0, hostname: "127.0.0.1", tls: { cert: pem("server.pem"), key: pem("server.key") } };
  const server = Bun.serve({ ...options, fetch: answer });
  return { port: server.port as number, [Symbol.asyncDispose]: () => server.stop(true) };
}

test("sorted, with the key and further headers, through the proxy and its authority", async () => {
  await using server = serve((request) => {
    const ids = [request.headers.get("x-org"), request.headers.get("authorization"), new URL(request.url).pathname];
    return Response.json({ data: [...ids.map((id) => ({ id })), {}, null] });
  });
  await using proxy = await startProxy({ target: server.port });
  const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
  const options = { headers: { "x-org": "acme" }, env, tls };
  const ids = await listModels("https://api.provider.test/v1", key, options);
  expect(ids).toEqual(["/v1/models", `Bearer ${key}`, "acme"]);
  expect(proxy.requests).toMatchObject([{ method: "CONNECT", target: "api.provider.test:443" }]);
});

test("a refusal hides the key", async () => {
  await using server = serve((request) => Response.json(Object.fromEntries(request.headers), { status: 401 }));
  const options = { headers: { "x-gateway": "gateway-pass" }, env: {}, tls };
  const error = await failure(listModels(`https://localhost:${server.port}/v1`, key, options));
  expect(error).toMatchObject({ code: "auth" });
  expect(error.message).toStartWith("401: ");
  expect(error.message).not.toContain(key);
  expect(error.message).not.toContain("gateway-pass");
});

test("a dead proxy is an error without its password", async () => {
  const options = { headers: {}, env: { ALL_PROXY: "http://user:hunter22@127.0.0.1:1" }, tls: undefined };
  const error = await failure(listModels("https://api.provider.test/v1", key, options));
  expect(error).toMatchObject({ code: "network", retryable: true });
  expect(error.message).toContain("through the proxy http://127.0.0.1:1 (ALL_PROXY)");
  expect(Bun.inspect(error)).not.toContain("hunter22");
});

test("what is no list is an error that shows no key of the base URL's query", async () => {
  await using server = serve(() => new Response("<html>Log in</html>"));
  const options = { headers: {}, env: {}, tls };
  const error = await failure(listModels(`https://localhost:${server.port}/v1?key=query-pass`, key, options));
  expect(error.code).toBe("server");
  expect(error.message).toBe(`https://localhost:${server.port} did not answer with a list of models`);
  expect(error.hint).toContain("base URL");
});

/** A server that has `answer` with each connection that asks, and never ends one itself. */
async function listen(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    open: () => sockets.size,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Writes the text for as long as there is someone to read it. */
function repeat(socket: Socket, text: string, ms: number) {
  const write = () => {
    if (socket.destroyed) clearInterval(timer);
    else if (socket.writableLength < 1_000_000) socket.write(text);
  };
  const timer = setInterval(write, ms);
}

describe("nothing is read for ever:", () => {
  const json = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
  const options = { headers: {}, env: {}, tls: undefined };

  test.each<[string, (socket: Socket) => void, string]>([
    ["silence", () => {}, "begin to answer"],
    ["silence behind the headers", (socket) => socket.write(json), "answer in full"],
    ["a list that has begun", (socket) => socket.write(`${json}{"data":[`), "answer in full"],
    [
      "a trickle",
      (socket) => {
        socket.write(json);
        repeat(socket, " ", 5);
      },
      "answer in full",
    ],
  ])("%s", async (_, answer, what) => {
    using server = await listen(answer);
    const begun = performance.now();
    const error = await failure(listModels(`${server.url}/v1`, key, { ...options, timeoutMs: 200 }));
    expect(performance.now() - begun).toBeLessThan(2000);
    expect(error).toMatchObject({ code: "timeout", message: `${server.url} did not ${what} within 0.2 s` });
    expect(error.hint).toContain("base URL");
    expect(server.connections()).toBe(1);
    await waitUntil(() => server.open() === 0, "the connection is closed");
  });

  test("a list without an end", async () => {
    using server = await listen((socket) => {
      socket.write(`${json}{"data":[`);
      repeat(socket, '{"id":"one-more"},'.repeat(50_000), 1);
    });
    const error = await failure(listModels(`${server.url}/v1`, key, options));
    expect(error.code).toBe("server");
    expect(error.message).toBe(`${server.url} answered with more than 5 MB, too much for a list of models`);
    await waitUntil(() => server.open() === 0, "the connection is closed");
  });

  test.each([
    ["without an end", (socket: Socket) => repeat(socket, "no ".repeat(50_000), 1)],
    ["that does not come", () => {}],
  ])("a refusal %s is one", async (_, answer) => {
    using server = await listen((socket) => {
      socket.write("HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\n\r\n");
      answer(socket);
    });
    const error = await failure(listModels(`${server.url}/v1`, key, { ...options, timeoutMs: 500 }));
    expect(error).toMatchObject({ code: "auth", message: expect.stringMatching(/^401: (?:no no|\(empty body\))/) });
    await waitUntil(() => server.open() === 0, "the connection is closed");
  });
});
