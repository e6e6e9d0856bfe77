// A provider's headers and certificate files, from config.toml to what the provider is reached with.
import { describe, expect, test } from "bun:test";
import { homedir } from "node:os";
import { resolveConfig } from "../../src/config/config.ts";
import { parseConfigFile } from "../../src/config/file.ts";

function configure(table: string, env: Record<string, string> = {}) {
  const text = `provider = "corp"\nmodel = "m"\n[providers.corp]\nbase_url = "https://llm.corp/v1"\n${table}\n`;
  return resolveConfig(
    {},
    { PI_TS_HOME: "/home/u/.pi-ts", ...env },
    [{ path: "/home/u/.pi-ts/config.toml", content: parseConfigFile(text, "config.toml") }],
    [],
    "corp",
  );
}

test("nothing said", () => {
  const { provider } = configure("");
  expect(provider.headers).toEqual({});
  expect(provider.tls).toEqual({ ca: undefined, clientCert: undefined, clientKey: undefined });
});

test("paths begin at the folder of config.toml, at ~ or at the root", () => {
  const { provider } = configure('ca = "certs/ca.pem"\nclient_cert = "~/me.pem"\nclient_key = "/etc/me.key"');
  expect(provider.tls).toEqual({
    ca: "/home/u/.pi-ts/certs/ca.pem",
    clientCert: `${homedir()}/me.pem`,
    clientKey: "/etc/me.key",
  });
});

describe("headers", () => {
  test("values are as written, or a variable's where they are nothing but its name", () => {
    const table =
      'headers = { "X-Org" = "acme", "X-Token" = "$GATEWAY_TOKEN", "X-Price" = "$5", "X-Text" = "a $HOME" }';
    const { provider, keyVariables } = configure(`api_key_env = "CORP_KEY"\n${table}`, { GATEWAY_TOKEN: "t0ken" });
    expect(provider.headers).toEqual({ "x-org": "acme", "x-token": "t0ken", "x-price": "$5", "x-text": "a $HOME" });
    expect(provider.secretValues).toEqual(["t0ken"]);
    expect(keyVariables).toEqual(["CORP_KEY", "GATEWAY_TOKEN"]);
  });

  test("a variable that holds no secret by its name stays with the children", () => {
    expect(configure('headers = { "X-User" = "$USER" }', { USER: "me" }).keyVariables).toEqual([]);
  });

  test.each([
    ['"X-Org" = "$ORG"', "providers.corp.headers.X-Org: $ORG is not set"],
    ['"X Org" = "acme"', "providers.corp.headers.X Org cannot be sent as a header: check its name and value"],
    ['"X-Org" = "a\\nb"', "providers.corp.headers.X-Org cannot be sent as a header: check its name and value"],
  ])("%s", (header, message) => {
    expect(() => configure(`headers = { ${header} }`)).toThrow(expect.objectContaining({ code: "config", message }));
  });

  test("anything but text is told with its line", () => {
    expect(() => configure('headers = { "X-Org" = 1 }')).toThrow(
      expect.objectContaining({ code: "config", message: expect.stringContaining("must be of type string") }),
    );
  });
});
