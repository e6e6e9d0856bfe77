// The compiled binary on a corporate network: a proxy on the way out, an authority of its own, certificates for clients.
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { startProxy } from "../helpers/proxy-server.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { type CliResult, runCli } from "../helpers/run-cli.ts";
import { pemPath, startTlsServer } from "../helpers/tls-server.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

const key = "corp-key-0123456789";

/** Runs one prompt against `url`, with further lines in the provider's table and further variables. */
async function ask(dir: TmpDir, url: string, table = "", env: Record<string, string> = {}): Promise<CliResult> {
  const home = dir.file("home");
  mkdirSync(`${home}/.pi-ts`, { recursive: true });
  const lines = ['provider = "corp"', 'model = "m"', "[providers.corp]", 'api = "openai-completions"'];
  lines.push(`base_url = "${url}"`, 'api_key_env = "CORP_KEY"', table, "");
  writeFileSync(`${home}/.pi-ts/config.toml`, lines.join("\n"));
  return await runCli(["-p", "hi", "--max-retries", "0"], { home, env: { CORP_KEY: key, ...env } });
}

const answered = { stdout: "over TLS\n", code: 0 };

describe("an authority that nobody knows", () => {
  test("is refused, and the error says what to set", async () => {
    await using dir = tmp();
    await using server = startTlsServer();
    const { code, stdout, stderr } = await ask(dir, `https://localhost:${server.port}/v1`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`Could not reach https://localhost:${server.port}: `);
    expect(stderr).toContain("$NODE_EXTRA_CA_CERTS");
    expect(server.requests).toEqual([]);
  });

  test("is trusted once NODE_EXTRA_CA_CERTS names it", async () => {
    await using dir = tmp();
    await using server = startTlsServer();
    const env = { NODE_EXTRA_CA_CERTS: pemPath("ca.pem") };
    expect(await ask(dir, `https://localhost:${server.port}/v1`, "", env)).toMatchObject(answered);
  });

  test("a file of NODE_EXTRA_CA_CERTS that cannot be read is told", async () => {
    await using dir = tmp();
    await using server = startTlsServer();
    const env = { NODE_EXTRA_CA_CERTS: dir.file("none.pem") };
    const { code, stderr } = await ask(dir, `https://localhost:${server.port}/v1`, "", env);
    expect(code).toBe(1);
    expect(stderr).toContain(`Ignoring extra certs from \`${dir.file("none.pem")}\``);
  });

  test("is trusted by a provider's `ca`, and what the variables name still counts beside it", async () => {
    await using dir = tmp();
    await using server = startTlsServer();
    const url = `https://localhost:${server.port}/v1`;
    expect(await ask(dir, url, `ca = "${pemPath("ca.pem")}"`)).toMatchObject(answered);
    const file = pemPath("ca.pem");
    const system = { NODE_USE_SYSTEM_CA: "1", SSL_CERT_DIR: pemPath(".") };
    for (const env of [{ NODE_EXTRA_CA_CERTS: file }, { SSL_CERT_FILE: file }, system])
      expect(await ask(dir, url, `ca = "${pemPath("client.pem")}"`, env)).toMatchObject(answered);
  });

  test("a `ca` that is not there is one clear error", async () => {
    await using dir = tmp();
    const { code, stdout, stderr } = await ask(dir, "https://localhost:1/v1", 'ca = "certs/none.pem"');
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`providers.corp.ca: cannot read ${dir.file("home/.pi-ts/certs/none.pem")}: ENOENT`);
  });
});

test("a client certificate and further headers", async () => {
  await using dir = tmp();
  await using server = startTlsServer({ requireClientCert: true });
  const table = [
    `ca = "${pemPath("ca.pem")}"`,
    `client_cert = "${pemPath("client.pem")}"`,
    `client_key = "${pemPath("client.key")}"`,
    'headers = { "X-Org" = "acme", "X-Gateway" = "$GATEWAY_TOKEN" }',
  ];
  const env = { GATEWAY_TOKEN: "gateway-pass" };
  expect(await ask(dir, `https://localhost:${server.port}/v1`, table.join("\n"), env)).toMatchObject(answered);
  const [headers] = server.requests;
  expect(headers?.get("x-org")).toBe("acme");
  expect(headers?.get("x-gateway")).toBe("gateway-pass");
  expect(headers?.get("authorization")).toBe(`Bearer ${key}`);
});

describe("a proxy", () => {
  const trust = { NODE_EXTRA_CA_CERTS: pemPath("ca.pem") };

  test("HTTPS_PROXY is the way out, with its user name and password", async () => {
    await using dir = tmp();
    await using server = startTlsServer();
    await using proxy = await startProxy({ target: server.port, credentials: "user:pass word" });
    const env = { ...trust, HTTPS_PROXY: `http://user:pass%20word@127.0.0.1:${proxy.port}` };
    expect(await ask(dir, "https://api.provider.test/v1", "", env)).toMatchObject(answered);
    expect(proxy.requests).toMatchObject([{ method: "CONNECT", target: "api.provider.test:443" }]);
    expect(server.requests).toHaveLength(1);
  });

  test("NO_PROXY and loopback go past it", async () => {
    await using dir = tmp();
    await using server = startTlsServer();
    const dead = { ...trust, HTTPS_PROXY: "http://127.0.0.1:1", ALL_PROXY: "socks5://127.0.0.1:1" };
    expect(await ask(dir, `https://localhost:${server.port}/v1`, "", dead)).toMatchObject(answered);
    // This machine under a name that is no loopback.
    await using plain = await startReplayServer([{ turn: { text: "past it" } }]);
    const url = plain.url.replace("127.0.0.1", "0.0.0.0");
    const past = await ask(dir, url, "", { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "localhost,.corp,0.0.0.0/8" });
    expect(past).toMatchObject({ stdout: "past it\n", code: 0 });
  });

  test("one that is not there is named without its password", async () => {
    await using dir = tmp();
    const env = { https_proxy: "http://user:hunter22@127.0.0.1:1" };
    const { code, stdout, stderr } = await ask(dir, "https://api.provider.test/v1", "", env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("through the proxy http://127.0.0.1:1 (https_proxy)");
    expect(stderr).not.toContain("hunter22");
    expect(stderr).not.toContain(key);
  });

  test("one of a kind that is not supported is told as such", async () => {
    await using dir = tmp();
    const env = { ALL_PROXY: "socks5://user:hunter22@127.0.0.1:1080" };
    const { code, stdout, stderr } = await ask(dir, "https://api.provider.test/v1", "", env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("$ALL_PROXY names a socks5 proxy, which is not supported");
    expect(stderr).toContain("Supported are http://");
    expect(stderr).not.toContain("hunter22");
  });
});
