// A provider's own list of models, over the same network as its answers.
import { expect, test } from "bun:test";
import { listModels } from "../../src/providers/list-models.ts";
import { startProxy } from "../helpers/proxy-server.ts";
import { pem } from "../helpers/tls-server.ts";

const key = "test-key-0123456789abcdef";
const tls = { ca: [pem("ca.pem")] };

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
  const error: Error = await listModels(`https://localhost:${server.port}/v1`, key, options).then(
    () => expect.unreachable(),
    (reason) => reason,
  );
  expect(error).toMatchObject({ code: "auth" });
  expect(error.message).toStartWith("401: ");
  expect(error.message).not.toContain(key);
  expect(error.message).not.toContain("gateway-pass");
});

test("a dead proxy is an error without its password", async () => {
  const options = { headers: {}, env: { ALL_PROXY: "http://user:hunter22@127.0.0.1:1" }, tls: undefined };
  const error: Error = await listModels("https://api.provider.test/v1", key, options).then(
    () => expect.unreachable(),
    (reason) => reason,
  );
  expect(error).toMatchObject({ code: "network", retryable: true });
  expect(error.message).toContain("through the proxy http://127.0.0.1:1 (ALL_PROXY)");
  expect(Bun.inspect(error)).not.toContain("hunter22");
});
