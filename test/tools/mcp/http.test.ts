// Connections by streamable HTTP that break: a request whose answer can no longer come fails at once, one that can be taken up again waits.
import { describe, expect, test } from "bun:test";
import { type Connection, connect } from "../../../src/tools/mcp/connection.ts";
import { createHttp } from "../../../src/tools/mcp/http.ts";
import { SessionLost } from "../../../src/tools/mcp/transport.ts";

type Answer = (id: number) => Response | Promise<Response>;

interface Setup extends AsyncDisposable {
  readonly connection: Connection;
  /** The ids after which streams were to be taken up. */
  readonly resumed: (string | null)[];
  readonly reason: () => string | undefined;
}

const events = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });
const message = (value: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`;
const limits = { timeoutMs: 60_000 };

/** A server that answers calls, and the taking up of a stream, as told. */
async function setUp(
  answer: Answer,
  resume: (after: string) => Response = () => new Response(null, { status: 404 }),
): Promise<Setup> {
  const resumed: (string | null)[] = [];
  let calls = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const after = request.headers.get("last-event-id");
      if (request.method === "GET") {
        if (after === null) return new Response(null, { status: 405 });
        resumed.push(after);
        return resume(after);
      }
      if (request.method === "DELETE") return new Response(null, { status: 200 });
      const { id, method } = (await request.json()) as { id?: number; method: string };
      if (id === undefined) return new Response(null, { status: 202 });
      if (method !== "initialize") return ++calls > 1 ? events(message({ id, result: { content: [] } })) : answer(id);
      const serverInfo = { name: "test", version: "1" };
      const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
      return Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": "s" } });
    },
  });
  const url = `http://127.0.0.1:${server.port}/mcp`;
  const transport = createHttp({ kind: "http", url, headers: {} }, fetch, ["hunter2hunter2"], 2 ** 21);
  const connection = await connect({ transport, timeoutMs: 5000, onListChanged() {}, onClose() {} });
  return {
    connection,
    resumed,
    reason: transport.reason,
    async [Symbol.asyncDispose]() {
      await connection.close();
      await server.stop(true);
    },
  };
}

describe("a call", () => {
  test("whose stream ends without an answer fails at once, and the next one works", async () => {
    await using setup = await setUp(() => events(": hello\n\n"));
    await expect(setup.connection.call("t", {}, limits)).rejects.toThrow("closed before the answer");
    expect(await setup.connection.call("t", {}, limits)).toEqual({ content: [] });
  });

  test("whose stream has an id is taken up behind that, and gets its answer", async () => {
    let id = 0;
    const answer = (asked: number) => {
      id = asked;
      return events("retry: 1\nid: 7\ndata:\n\n");
    };
    await using setup = await setUp(answer, () => events(message({ id, result: { content: [{ type: "text" }] } })));
    expect(await setup.connection.call("t", {}, limits)).toEqual({ content: [{ type: "text" }] });
    expect(setup.resumed).toEqual(["7"]);
  });

  test("whose stream cannot be taken up again fails, with the connection", async () => {
    await using setup = await setUp(() => events("retry: 1\nid: 7\ndata:\n\n"));
    await expect(setup.connection.call("t", {}, limits)).rejects.toThrow("Connection closed");
    expect(setup.reason()).toContain("could not be taken up again");
    expect(setup.resumed).toEqual(["7", "7"]);
  });

  test.each([
    [404, "gone", SessionLost, "HTTP 404: gone"],
    [400, "Bad Request: No valid session ID provided", SessionLost, "No valid session"],
    [400, "bad arguments", Error, "HTTP 400: bad arguments"],
    [401, "", Error, "HTTP 401 (check headers or bearer_token_env"],
    [500, "the token hunter2hunter2 is wrong", Error, "HTTP 500: the token [key hidden] is wrong"],
  ])("that is refused with %i and '%s' says so", async (status, body, kind, words) => {
    await using setup = await setUp(() => new Response(body, { status }));
    const error = (await setup.connection.call("t", {}, limits).catch((thrown) => thrown)) as Error;
    expect(error.message).toContain(words);
    expect(error instanceof SessionLost).toBe(kind === SessionLost);
  });
});

const html = { "content-type": "text/html" };
const endless = (type: string, status = 200) =>
  new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(2 ** 20).fill(0x20)) }), {
    status,
    headers: { "content-type": type },
  });

test.each([
  ["a page", () => new Response("<html>sign in</html>", { headers: html }), "the content type text/html; is the URL"],
  [
    "an error's page",
    () => new Response("<html>oops</html>", { status: 502, headers: html }),
    /^it answered with HTTP 502$/,
  ],
  [
    "no JSON",
    () => new Response("{", { headers: { "content-type": "application/json" } }),
    "no message of the protocol",
  ],
  ["other JSON", () => Response.json({ ok: true }), "no message of the protocol"],
  [
    "the way to another host",
    () => Response.redirect("http://localhost:1/x", 307),
    "redirects to http://localhost:1/x",
  ],
  ["JSON without end", () => endless("application/json"), "a message of more than 2 MB"],
] as const)("%s in the place of an answer is said in words", async (_, answer, words) => {
  await using setup = await setUp(answer);
  await expect(setup.connection.call("t", {}, limits)).rejects.toThrow(words);
});

test("a stream whose message never ends is the end of the connection", async () => {
  await using setup = await setUp(() => endless("text/event-stream"));
  await expect(setup.connection.call("t", {}, limits)).rejects.toThrow("Connection closed");
  expect(setup.reason()).toBe("it sent a message of more than 2 MB");
});

test.each([
  ["that is not there", "ConnectionRefused", "connection refused"],
  ["that resets the connection", "ECONNRESET", "the connection was reset"],
  ["that fails in a way of its own", "EOTHER", "It failed."],
])("a server %s is named, with the reason", async (_, code, reason) => {
  const failure = new TypeError(
    "It failed. For more information, pass `verbose: true` in the second argument to fetch()",
  );
  const broken = () => Promise.reject(Object.assign(failure, { code }));
  const transport = createHttp({ kind: "http", url: "http://127.0.0.1:1/mcp", headers: {} }, broken, []);
  const connecting = connect({ transport, timeoutMs: 5000, onListChanged() {}, onClose() {} });
  const said = await connecting.catch((error: Error) => error.message);
  expect(said).toBe(`127.0.0.1:1 cannot be reached: ${reason}`);
});
