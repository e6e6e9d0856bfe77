// Which way a request takes, by the environment alone.
import { describe, expect, test } from "bun:test";
import { chooseProxy, describeProxy, proxySecrets, toFetchProxy } from "../../src/providers/network.ts";
import type { AppError } from "../../src/util/error.ts";
import { redact } from "../../src/util/redact.ts";

const proxy = "http://proxy.corp:3128";
const api = "https://api.provider.test/v1";

describe("which variable decides", () => {
  test.each([
    ["nothing set", api, {}, "direct"],
    ["HTTPS_PROXY for https", api, { HTTPS_PROXY: proxy }, { proxy, variable: "HTTPS_PROXY" }],
    ["not for http", "http://api.provider.test", { HTTPS_PROXY: proxy }, "direct"],
    ["HTTP_PROXY for http", "http://api.provider.test", { HTTP_PROXY: proxy }, { proxy, variable: "HTTP_PROXY" }],
    ["not for https", api, { HTTP_PROXY: proxy }, "direct"],
    ["lower case wins", api, { HTTPS_PROXY: "http://other", https_proxy: proxy }, { proxy, variable: "https_proxy" }],
    [
      "lower case http_proxy",
      "http://a.test",
      { http_proxy: proxy, HTTP_PROXY: "http://other" },
      { proxy, variable: "http_proxy" },
    ],
    ["an empty one is unset", api, { https_proxy: "", HTTPS_PROXY: proxy }, { proxy, variable: "HTTPS_PROXY" }],
    ["ALL_PROXY for the rest", api, { ALL_PROXY: proxy, HTTP_PROXY: "http://other" }, { proxy, variable: "ALL_PROXY" }],
    [
      "all_proxy before ALL_PROXY",
      api,
      { ALL_PROXY: "http://other", all_proxy: proxy },
      { proxy, variable: "all_proxy" },
    ],
    [
      "the scheme's own before ALL_PROXY",
      api,
      { ALL_PROXY: "http://other", HTTPS_PROXY: proxy },
      { proxy, variable: "HTTPS_PROXY" },
    ],
    ["no scheme is http", api, { HTTPS_PROXY: "proxy.corp:3128" }, { proxy, variable: "HTTPS_PROXY" }],
    [
      "credentials without a scheme",
      api,
      { HTTPS_PROXY: "u:p@proxy:1" },
      { proxy: "http://u:p@proxy:1", variable: "HTTPS_PROXY" },
    ],
    [
      "a proxy over TLS",
      api,
      { HTTPS_PROXY: "https://proxy.corp" },
      { proxy: "https://proxy.corp", variable: "HTTPS_PROXY" },
    ],
  ] as const)("%s", (_, url, env, route) => {
    expect(chooseProxy(url, env)).toEqual(route);
  });
});

test.each([
  "http://localhost:11434/v1",
  "http://LOCALHOST/",
  "http://localhost./",
  "https://model.localhost/",
  "http://127.0.0.1:8080/",
  "http://127.9.8.7/",
  "http://0x7f.1/",
  "http://[::1]:8080/",
  "http://[::ffff:127.0.0.1]/",
])("loopback is never proxied: %s", (url) => {
  expect(chooseProxy(url, { ALL_PROXY: proxy, HTTP_PROXY: proxy, HTTPS_PROXY: proxy })).toBe("direct");
});

test.each([
  "http://localhost.corp/",
  "http://notlocalhost/",
  "http://128.0.0.1/",
  "http://[::2]/",
  "http://[7f00::1]/",
])("what only looks like loopback is proxied: %s", (url) => {
  expect(chooseProxy(url, { ALL_PROXY: proxy })).toEqual({ proxy, variable: "ALL_PROXY" });
});

describe("NO_PROXY", () => {
  test.each([
    // [NO_PROXY, URL, taken directly]
    ["*", "https://api.corp/", true],
    ["*:8443", "https://api.corp:8443/", true],
    ["*:8443", "https://api.corp/", false],
    ["corp", "https://corp/", true],
    ["corp", "https://api.corp/", true],
    ["corp", "https://a.b.corp/", true],
    ["corp", "https://xcorp/", false],
    ["corp", "https://corp.example/", false],
    [".corp", "https://api.corp/", true],
    [".corp", "https://corp/", true],
    [".corp", "https://apicorp/", false],
    ["*.corp", "https://api.corp/", true],
    ["*.corp", "https://apicorp/", false],
    ["CORP", "https://api.corp/", true],
    ["corp", "https://API.CORP./", true],
    ["api.corp", "https://corp/", false],
    ["one.test,api.corp", "https://api.corp/", true],
    [" one.test , api.corp ", "https://api.corp/", true],
    ["one.test api.corp", "https://api.corp/", true],
    [",,", "https://api.corp/", false],
    [".", "https://api.corp/", false],
    ["api.corp:8443", "https://api.corp:8443/", true],
    ["api.corp:8443", "https://api.corp/", false],
    ["api.corp:443", "https://api.corp/", true],
    ["api.corp:80", "http://api.corp/", true],
    [".corp:8080", "http://api.corp:8080/", true],
    ["10.1.2.3", "https://10.1.2.3/", true],
    ["10.1.2.3", "https://10.1.2.4/", false],
    ["2.3", "https://10.1.2.3/", false],
    ["10.1.2.3:8080", "http://10.1.2.3:8080/", true],
    ["10.1.2.3:8080", "http://10.1.2.3/", false],
    ["10.0.0.0/8", "https://10.255.0.1/", true],
    ["10.0.0.0/8", "https://11.0.0.1/", false],
    ["10.0.0.0/8", "https://10.corp/", false],
    ["192.168.4.0/22", "https://192.168.7.255/", true],
    ["192.168.4.0/22", "https://192.168.8.0/", false],
    ["10.1.2.3/32", "https://10.1.2.3/", true],
    ["0.0.0.0/0", "https://8.8.8.8/", true],
    ["0.0.0.0/0", "https://[2001:db8::1]/", false],
    ["10.0.0.0/33", "https://10.0.0.0/", false],
    ["10.0.0.0/8", "https://[::ffff:10.1.2.3]/", true],
    ["fd00::/8", "https://[fd12:3456::1]/", true],
    ["[fd00::]/8", "https://[fd12:3456::1]/", true],
    ["fd00::/8", "https://[fe80::1]/", false],
    ["fd00::/8", "https://fd00.corp/", false],
    ["2001:db8::1", "https://[2001:DB8:0:0::1]/", true],
    ["[2001:db8::1]", "https://[2001:db8::1]/", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]:8443/", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]/", false],
    ["2001:db8::/129", "https://[2001:db8::]/", false],
  ] as const)("%p, %s: directly %p", (entries, url, direct) => {
    const route = chooseProxy(url, { ALL_PROXY: proxy, NO_PROXY: entries });
    expect(route).toEqual(direct ? "direct" : { proxy, variable: "ALL_PROXY" });
  });

  test("lower case before upper case", () => {
    const env = { ALL_PROXY: proxy, NO_PROXY: "*", no_proxy: "corp" };
    expect(chooseProxy(api, env)).toEqual({ proxy, variable: "ALL_PROXY" });
  });
});

describe("a proxy that cannot be used", () => {
  test.each([
    [{ ALL_PROXY: "socks5://user:secret@proxy:1080" }, "$ALL_PROXY names a socks5 proxy, which is not supported"],
    [{ https_proxy: "socks5h://proxy:1080" }, "$https_proxy names a socks5h proxy, which is not supported"],
    [{ HTTPS_PROXY: "http://user:secret@" }, "$HTTPS_PROXY is not the URL of a proxy"],
    [{ HTTPS_PROXY: "user:secret@proxy:port" }, "$HTTPS_PROXY is not the URL of a proxy"],
  ])("%p", (env, message) => {
    expect(() => chooseProxy(api, env)).toThrow(expect.objectContaining({ name: "AppError", code: "config", message }));
  });

  test("the hint says what is supported, and nothing shows the password", () => {
    try {
      chooseProxy(api, { ALL_PROXY: "socks5://user:secret@proxy:1080" });
      expect.unreachable();
    } catch (error) {
      const { message, hint } = error as AppError;
      expect(hint).toContain("http://host:port and https://…, the host perhaps behind user:password@;");
      expect(redact(hint ?? "")).toBe(hint as string);
      expect(`${message}${hint}`).not.toContain("secret");
    }
  });

  test("does not matter where it is not used", () => {
    const env = { ALL_PROXY: "socks5://proxy:1080", NO_PROXY: ".provider.test" };
    expect(chooseProxy(api, env)).toBe("direct");
    expect(chooseProxy("http://localhost:8080", env)).toBe("direct");
  });
});

test("fetch is told the route in full", () => {
  expect(toFetchProxy("direct")).toBe(false);
  expect(toFetchProxy({ proxy, variable: "ALL_PROXY" })).toEqual({ url: proxy, respectNoProxy: false });
});

test("a proxy is named without its credentials", () => {
  const route = { proxy: "http://us%40er:p%3Ass@proxy.corp:3128/x", variable: "https_proxy" };
  expect(describeProxy(route)).toBe("http://proxy.corp:3128 (https_proxy)");
  expect(proxySecrets(route)).toEqual(["p%3Ass", "p:ss", btoa("us@er:p:ss")]);
  expect(proxySecrets({ proxy: "http://token@proxy", variable: "ALL_PROXY" })).toEqual([
    "token",
    "token",
    btoa("token:"),
  ]);
  expect(proxySecrets({ proxy, variable: "ALL_PROXY" })).toEqual([]);
  expect(proxySecrets("direct")).toEqual([]);
});
