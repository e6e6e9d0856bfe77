// The transport against real servers: plain, over TLS, and behind a proxy.
import { describe, expect, jest, test } from "bun:test";
import { copyFileSync } from "node:fs";
import type { Answer } from "../../src/providers/body.ts";
import { createHttpTransport, type HttpOptions, type HttpRequest } from "../../src/providers/http.ts";
import { loadTls } from "../../src/providers/tls.ts";
import { AppError } from "../../src/util/error.ts";
import { textOf } from "../helpers/answer.ts";
import { startProxy } from "../helpers/proxy-server.ts";
import { gate, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { pem, pemPath, startTlsServer } from "../helpers/tls-server.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

const key = "test-key-0123456789abcdef";
const never = new AbortController().signal;
const trusted = { ca: [pem("ca.pem")] };

function toRequest(url: string, headers: Record<string, string> = {}): HttpRequest {
  return {
    url: `${url}/chat/completions`,
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], stream: true }),
    secrets: [key],
  };
}

function send(url: string, options: Partial<HttpOptions> = {}, headers?: Record<string, string>): Promise<Answer> {
  return createHttpTransport({ firstByteMs: 5000, ...options })(toRequest(url, headers), never);
}

async function failure(response: Promise<unknown>): Promise<AppError> {
  const error = await response.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof AppError) return error;
  throw new Error(`expected an AppError, not ${error}`);
}

/** Everything of an error that could be printed. */
function printed(error: AppError): string {
  return Bun.inspect(error) + JSON.stringify(error) + Bun.inspect(error.cause);
}

describe("directly", () => {
  test("the request goes out as given and the answer streams back", async () => {
    await using server = await startReplayServer([{ turn: { text: "hello" } }]);
    const response = await send(server.url, {}, { "x-org": "acme" });
    expect(await textOf(response)).toContain("hello");
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${key}`, "x-org": "acme" });
    expect(request?.body.messages).toEqual([{ role: "user", content: "hi" }]);
  });

  test("a server that stays silent is given up after the limit", async () => {
    await using server = await startReplayServer(["silent"]);
    const error = await failure(send(server.url, { firstByteMs: 30 }));
    expect(error).toMatchObject({ code: "timeout", retryable: true });
    expect(error.message).toBe(`${new URL(server.url).origin} did not begin to answer within 0.03 s`);
    await server.requests[0]?.closed;
  });

  test("headers alone are no beginning: the limit holds until the first byte of the body", async () => {
    await using server = await startReplayServer([{ ending: "silent" }]);
    const response = await send(server.url, { firstByteMs: 30 });
    const error = await failure(textOf(response));
    expect(error).toMatchObject({ code: "timeout", retryable: true });
    expect(error.message).toEndWith("did not begin to answer within 0.03 s");
    await server.requests[0]?.closed;
  });

  test("once the first byte is there, the limit is over", async () => {
    const rest = gate();
    await using server = await startReplayServer([{ body: ["a", rest.opened, "b"] }]);
    jest.useFakeTimers();
    try {
      const reader = (await send(server.url, { firstByteMs: 1000 })).body?.getReader();
      await reader?.read();
      jest.advanceTimersByTime(10_000);
      rest.open();
      expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("b");
    } finally {
      jest.useRealTimers();
    }
  });

  test("a body that breaks says why, without the address", async () => {
    const begun = gate();
    await using server = await startReplayServer([{ body: ["a", begun.opened], ending: "reset" }]);
    const url = server.url.replace("http://", "http://user:hunter22@").replace("/v1", "/k/hunter22");
    const reader = (await send(url)).body?.getReader();
    await reader?.read();
    begun.open();
    const error = await failure(reader!.read());
    expect(error).toMatchObject({ code: "network", retryable: true });
    expect(error.message).toBe("The connection broke during the answer: the connection was reset");
  });

  test("a body that is not compressed as its headers say is told so, without the address", async () => {
    const headers = { "content-encoding": "gzip" };
    await using server = await startReplayServer([{ headers, body: "not gzip" }]);
    const error = await failure(textOf(await send(`${server.url}/k/hunter22`)));
    expect(error.message).toBe(
      "The connection broke during the answer: the answer is not compressed the way its headers say",
    );
  });

  test("a refusal whose body stops in the middle is told as far as it came, within the limit on silence", async () => {
    await using server = await startReplayServer([{ status: 500, body: ["busy, "], ending: "silent" }]);
    const error = await failure(send(server.url, { firstByteMs: 0, idleMs: 50 }));
    expect(error).toMatchObject({ code: "server", message: "500: busy," });
    await server.requests[0]?.closed;
  });

  test("a refusal that never ends is read only so far", async () => {
    const endless = Array.from({ length: 200 }, () => "no ".repeat(1000));
    await using server = await startReplayServer([{ status: 400, body: endless, ending: "silent" }]);
    const error = await failure(send(server.url, { idleMs: 0 }));
    expect(error).toMatchObject({ code: "bad_request" });
    expect(error.message).toStartWith("400: no no no");
    await server.requests[0]?.closed;
  });

  test("an abort ends a refusal in the middle", async () => {
    await using server = await startReplayServer([{ status: 500, body: ["busy"], ending: "silent" }]);
    const controller = new AbortController();
    const sent = createHttpTransport({ firstByteMs: 0 })(toRequest(server.url), controller.signal);
    await server.request(0);
    controller.abort();
    expect(await failure(sent)).toMatchObject({ code: "aborted" });
  });

  test("an abort ends the request at once and closes its connection", async () => {
    await using server = await startReplayServer(["silent"]);
    const controller = new AbortController();
    const response = createHttpTransport({ firstByteMs: 0 })(toRequest(server.url), controller.signal);
    const { closed } = await server.request(0);
    controller.abort();
    expect(await failure(response)).toMatchObject({ code: "aborted", message: "Request aborted" });
    await closed;
  });

  test("nobody there", async () => {
    const error = await failure(send("http://user:hunter22@127.0.0.1:1/v1"));
    expect(error).toMatchObject({ code: "network", retryable: true });
    expect(error.message).toStartWith("Could not reach http://127.0.0.1:1: connection refused");
    expect(printed(error)).not.toContain("hunter22");
  });

  test("somebody there who does not speak HTTP", async () => {
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.end("SSH-2.0-OpenSSH_9.9\r\n") },
    });
    const error = await failure(send(`http://127.0.0.1:${server.port}/v1`));
    expect(error.message).toBe(`Could not reach http://127.0.0.1:${server.port}: what came back is no HTTP`);
  });

  test("a redirect is not followed, and its address is shown without credentials", async () => {
    const location = `https://user:hunter22@elsewhere.test/?key=${key}`;
    await using server = await startReplayServer([{ status: 307, headers: { location } }]);
    const error = await failure(send(server.url));
    expect(error.code).toBe("bad_request");
    expect(error.message).toBe("307: redirected to https://[hidden]@elsewhere.test/?key=[key hidden]");
  });
});

describe("what an error hides", () => {
  test.each([
    ["the request's headers as lines", (headers: string[][]) => headers.map(([n, v]) => `${n}: ${v}`).join("\n")],
    ["as JSON", (headers: string[][]) => JSON.stringify({ headers: Object.fromEntries(headers) })],
    [
      "as JSON in JSON",
      (headers: string[][]) => JSON.stringify({ error: JSON.stringify(Object.fromEntries(headers)) }),
    ],
    ["bare values", (headers: string[][]) => headers.map(([, value]) => value).join(" ")],
  ])("a server that echoes %s", async (_, echo) => {
    await using server = await startReplayServer((request) => ({
      status: 400,
      body: echo(Object.entries(request.headers)),
    }));
    const custom = { "x-gateway-token": "gateway-pass", "x-api-key": "anthropic-pass", "api-key": "azure pass" };
    const text = printed(await failure(send(server.url, {}, custom)));
    expect(text).toContain("[key hidden]");
    for (const secret of [key, "gateway-pass", "anthropic-pass", "azure pass"]) expect(text).not.toContain(secret);
  });

  test("what a header says that holds no secret stays, and a secret of any name goes", async () => {
    const message = "pi-ts of blue: team-pass";
    await using server = await startReplayServer([refusal(400, { error: { message } })]);
    const headers = { "x-title": "pi-ts", "x-team": "team-pass" };
    const request = { ...toRequest(server.url, headers), secrets: [key, "team-pass"] };
    const error = await failure(createHttpTransport({ firstByteMs: 0 })(request, never));
    expect(error.message).toBe("400: pi-ts of blue: [key hidden]");
  });

  test("a secret that JSON writes differently", async () => {
    const secret = 'pa"ss\\word';
    const nested = JSON.stringify({ message: `not ${secret}` });
    await using server = await startReplayServer([refusal(400, { error: `not ${secret}`, nested })]);
    const error = await failure(send(server.url, {}, { "x-secret": secret }));
    expect(error.message).not.toContain("word");
    expect(error.message.match(/\[key hidden\]/g)).toHaveLength(2);
  });

  test("the rest of the message stays", async () => {
    await using server = await startReplayServer([refusal(401, { error: { message: `no such key: ${key}` } })]);
    const error = await failure(send(server.url));
    expect(error).toMatchObject({ code: "auth", message: "401: no such key: [key hidden]" });
  });
});

describe("over TLS", () => {
  test("a certificate of an unknown authority is refused, with the way out", async () => {
    await using server = startTlsServer();
    const error = await failure(send(`https://localhost:${server.port}/v1`));
    expect(error).toMatchObject({ code: "network", retryable: false });
    expect(error.message).toStartWith(`Could not reach https://localhost:${server.port}: `);
    expect(error.hint).toContain("$NODE_EXTRA_CA_CERTS");
    expect(error.hint).toContain("`ca`");
    expect(server.requests).toEqual([]);
  });

  test("a provider's own authority is trusted", async () => {
    await using server = startTlsServer();
    const tls = loadTls({ ca: pemPath("ca.pem") }, "corp", {});
    const response = await send(`https://localhost:${server.port}/v1`, { tls });
    expect(await textOf(response)).toContain("over");
  });

  test.each<[string, (dir: TmpDir) => Record<string, string>]>([
    ["SSL_CERT_FILE", () => ({ SSL_CERT_FILE: pemPath("ca.pem") })],
    [
      "SSL_CERT_DIR",
      (dir) => {
        copyFileSync(pemPath("ca.pem"), dir.file("0123abcd.0"));
        return { SSL_CERT_DIR: `${dir.file("none")}:${dir.path}` };
      },
    ],
  ])("beside it, those of %s count as they do without it", async (_, variables) => {
    await using dir = tmp();
    await using server = startTlsServer();
    const tls = loadTls({ ca: pemPath("client.pem") }, "corp", variables(dir));
    const response = await send(`https://localhost:${server.port}/v1`, { tls });
    expect(await textOf(response)).toContain("over");
  });

  test("a certificate for another host is refused", async () => {
    await using server = startTlsServer();
    const error = await failure(send(`https://other.localhost:${server.port}/v1`, { tls: trusted }));
    expect(error).toMatchObject({ code: "network", retryable: false });
    expect(error.message).toEndWith(": the certificate is for another host");
    expect(error.hint).toContain("base URL");
  });

  test("a client certificate is shown where one is asked for", async () => {
    await using server = startTlsServer({ requireClientCert: true });
    const url = `https://localhost:${server.port}/v1`;
    const files = { ca: pemPath("ca.pem"), clientCert: pemPath("client.pem"), clientKey: pemPath("client.key") };
    expect((await send(url, { tls: loadTls(files, "corp", {}) })).status).toBe(200);
    const error = await failure(send(url, { tls: trusted }));
    expect(error).toMatchObject({ code: "network", retryable: false });
    expect(error.hint).toContain("client_cert");
    expect(server.requests).toHaveLength(1);
  });
});

describe("through a proxy", () => {
  test("https goes through a tunnel that sees neither key nor question", async () => {
    await using server = startTlsServer();
    await using proxy = await startProxy({ target: server.port });
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const response = await send("https://api.provider.test/v1", { env, tls: trusted });
    expect(await textOf(response)).toContain("over");
    expect(proxy.requests).toHaveLength(1);
    expect(proxy.requests[0]).toMatchObject({ method: "CONNECT", target: "api.provider.test:443" });
    expect(JSON.stringify(proxy.requests)).not.toContain(key);
    expect(server.requests[0]?.get("authorization")).toBe(`Bearer ${key}`);
  });

  test("http is asked for by its whole URL", async () => {
    await using server = await startReplayServer([{ turn: { text: "plain" } }]);
    await using proxy = await startProxy({ target: Number(new URL(server.url).port) });
    const env = { http_proxy: `127.0.0.1:${proxy.port}` };
    const response = await send("http://api.provider.test/v1", { env });
    expect(await textOf(response)).toContain("plain");
    expect(proxy.requests).toMatchObject([
      {
        method: "POST",
        target: "http://api.provider.test/v1/chat/completions",
        headers: { host: "api.provider.test" },
      },
    ]);
    expect(server.requests[0]?.path).toBe("/v1/chat/completions");
  });

  test("the proxy itself may speak TLS", async () => {
    await using server = startTlsServer();
    await using proxy = await startProxy({
      target: server.port,
      tls: { cert: pem("server.pem"), key: pem("server.key") },
    });
    const env = { HTTPS_PROXY: `https://localhost:${proxy.port}` };
    const response = await send("https://api.provider.test/v1", { env, tls: trusted });
    expect(response.status).toBe(200);
    expect(proxy.requests).toMatchObject([{ method: "CONNECT" }]);
  });

  test("loopback and what NO_PROXY lists go past it", async () => {
    await using server = await startReplayServer([{ turn: { text: "one" } }, { turn: { text: "two" } }]);
    const { port } = new URL(server.url);
    await using proxy = await startProxy({ target: Number(port) });
    const env = { ALL_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: ".corp,0.0.0.0/8" };
    expect(await textOf(await send(`http://localhost:${port}/v1`, { env }))).toContain("one");
    // This machine under a name that is no loopback.
    expect(await textOf(await send(`http://0.0.0.0:${port}/v1`, { env }))).toContain("two");
    expect(proxy.requests).toEqual([]);
  });

  test("its user name and password are sent, and wrong ones are told without being shown", async () => {
    await using server = startTlsServer();
    await using proxy = await startProxy({
      target: server.port,
      credentials: "us@er:p:ss/word",
      refusalBody: (head) => head,
    });
    const env = { HTTPS_PROXY: `http://us%40er:p%3Ass%2Fword@127.0.0.1:${proxy.port}` };
    expect((await send("https://api.provider.test/v1", { env, tls: trusted })).status).toBe(200);
    for (const [scheme, variable] of [
      ["https", "HTTPS_PROXY"],
      ["http", "HTTP_PROXY"],
    ] as const) {
      const wrong = { [variable]: `http://user:hunter22@127.0.0.1:${proxy.port}` };
      const error = await failure(send(`${scheme}://api.provider.test/v1`, { env: wrong, tls: trusted }));
      expect(error).toMatchObject({ code: "network", retryable: false });
      const where = `The proxy http://127.0.0.1:${proxy.port} (${variable})`;
      expect(error.message).toStartWith(`${where} refused ${scheme}://api.provider.test: 407`);
      expect(error.hint).toBe(`Check the user name and password in $${variable}.`);
      for (const secret of ["hunter22", btoa("user:hunter22"), key]) expect(printed(error)).not.toContain(secret);
    }
  });

  test.each([
    ["502 Bad Gateway", true],
    ["403 Forbidden", false],
  ])("a refusal with %s is worth another try: %p", async (refuse, retryable) => {
    await using proxy = await startProxy({ target: 1, refuse });
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const error = await failure(send("https://api.provider.test/v1", { env }));
    expect(error).toMatchObject({ code: "network", retryable });
    const where = `The proxy http://127.0.0.1:${proxy.port} (HTTPS_PROXY)`;
    expect(error.message).toBe(`${where} refused https://api.provider.test: ${refuse}`);
  });

  test("a dead proxy is named without its password", async () => {
    const env = { https_proxy: "http://user:hunter22@127.0.0.1:1" };
    const error = await failure(send("https://api.provider.test/v1", { env }));
    expect(error).toMatchObject({ code: "network", retryable: true });
    const where = "https://api.provider.test through the proxy http://127.0.0.1:1 (https_proxy)";
    expect(error.message).toStartWith(`Could not reach ${where}: connection refused`);
    expect(printed(error)).not.toContain("hunter22");
  });

  test("a kind of proxy that is not supported is told before anything is sent", async () => {
    const error = await failure(
      send("https://api.provider.test/v1", { env: { ALL_PROXY: "socks5://u:hunter22@h:1" } }),
    );
    expect(error).toMatchObject({ code: "config", retryable: false });
    expect(printed(error)).not.toContain("hunter22");
  });

  test("the limit on the first byte and an abort hold while the proxy is silent", async () => {
    await using proxy = await startProxy({ target: 1, silent: true });
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const late = await failure(send("https://api.provider.test/v1", { env, firstByteMs: 30 }));
    expect(late).toMatchObject({ code: "timeout", retryable: true });
    expect(late.message).toContain(`through the proxy http://127.0.0.1:${proxy.port} (HTTPS_PROXY)`);

    await using second = await startProxy({ target: 1, silent: true });
    const controller = new AbortController();
    const transport = createHttpTransport({ firstByteMs: 0, env: { ALL_PROXY: `http://127.0.0.1:${second.port}` } });
    const response = transport(toRequest("https://api.provider.test/v1"), controller.signal);
    await second.first;
    controller.abort();
    expect((await failure(response)).code).toBe("aborted");
  });

  test("an abort holds while the server behind the tunnel never begins TLS", async () => {
    await using silent = await startProxy({ target: 1, silent: true });
    await using proxy = await startProxy({ target: silent.port });
    const env = { ALL_PROXY: `http://127.0.0.1:${proxy.port}` };
    const late = await failure(send("https://api.provider.test/v1", { env, firstByteMs: 50 }));
    expect(late.code).toBe("timeout");
    expect(proxy.requests).toMatchObject([{ method: "CONNECT" }]);
  });
});
