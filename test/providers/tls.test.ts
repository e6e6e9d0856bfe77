// A provider's certificate files: what is read, and the one error a wrong file gets.
import { describe, expect, test } from "bun:test";
import { rootCertificates } from "node:tls";
import { loadTls, type TlsFiles } from "../../src/providers/tls.ts";
import { pem, pemPath } from "../helpers/tls-server.ts";
import { tmp } from "../helpers/tmp.ts";

test("no files, nothing to say", () => {
  expect(loadTls({}, "corp", {})).toBeUndefined();
});

test("an authority comes on top of those trusted anyway", () => {
  const { ca = [] } = loadTls({ ca: pemPath("ca.pem") }, "corp", {}) ?? {};
  expect(ca.at(-1)).toBe(pem("ca.pem"));
  expect(rootCertificates.every((root) => ca.some((text) => text.trim() === root.trim()))).toBe(true);
});

test("what the variables name and cannot be read is passed over, and an authority is given once", async () => {
  await using dir = tmp();
  const plain = loadTls({ ca: pemPath("client.pem") }, "corp", { SSL_CERT_FILE: "", SSL_CERT_DIR: "" })?.ca ?? [];
  const broken = "-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n";
  await Bun.write(dir.file("some.pem"), `${broken}${pem("ca.pem")}${plain[0]}`);
  await Bun.write(dir.file("0123abcd.0"), pem("ca.pem"));
  await Bun.write(dir.file("other.pem"), pem("server.pem"));
  expect(Bun.spawnSync(["mkfifo", dir.file("0123abcd.1")]).exitCode).toBe(0);
  const env = { SSL_CERT_FILE: dir.file("some.pem"), SSL_CERT_DIR: `${dir.path}:${dir.file("none")}` };
  const { ca = [] } = loadTls({ ca: pemPath("client.pem") }, "corp", env) ?? {};
  expect(ca).toEqual([...plain.slice(0, -1), pem("ca.pem").trim(), pem("client.pem")]);
});

test("a client's certificate and key, in one file or two", async () => {
  const two = { clientCert: pemPath("client.pem"), clientKey: pemPath("client.key") };
  expect(loadTls(two, "corp", {})).toEqual({ cert: pem("client.pem"), key: pem("client.key") });
  await using dir = tmp();
  const both = pem("client.pem") + pem("client.key");
  await Bun.write(dir.file("both.pem"), both);
  expect(loadTls({ clientCert: dir.file("both.pem") }, "corp", {})).toEqual({ cert: both, key: both });
});

describe("a wrong file is told by its key and path", () => {
  const broken = "-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n";
  test.each<[string, (file: (name: string) => string) => TlsFiles, string]>([
    ["missing", (file) => ({ ca: file("none.pem") }), "ca: cannot read FOLDER/none.pem: ENOENT"],
    ["a folder", (file) => ({ ca: file("") }), "ca: cannot read FOLDER"],
    ["not PEM", (file) => ({ ca: file("text.pem") }), "ca: FOLDER/text.pem holds no PEM certificate"],
    ["broken", (file) => ({ ca: file("broken.pem") }), "ca: FOLDER/broken.pem holds a broken certificate"],
    ["missing", (file) => ({ clientCert: file("none.pem") }), "client_cert: cannot read FOLDER/none.pem: ENOENT"],
    [
      "not PEM",
      (file) => ({ clientCert: file("text.pem") }),
      "client_cert: FOLDER/text.pem holds no usable PEM certificate",
    ],
    [
      "no key in it",
      () => ({ clientCert: pemPath("client.pem") }),
      "client_cert: PEMS/client.pem holds no usable PEM key",
    ],
    [
      "not PEM",
      (file) => ({ clientCert: pemPath("client.pem"), clientKey: file("text.pem") }),
      "client_key: FOLDER/text.pem holds no usable PEM key (one without a passphrase)",
    ],
    [
      "another key",
      () => ({ clientCert: pemPath("client.pem"), clientKey: pemPath("server.key") }),
      "client_key: PEMS/server.key is not the key of PEMS/client.pem",
    ],
    ["a key alone", () => ({ clientKey: pemPath("client.key") }), "client_key needs a client_cert beside it"],
  ])("%s: %#", async (_, files, message) => {
    await using dir = tmp();
    await Bun.write(dir.file("text.pem"), "hello");
    await Bun.write(dir.file("broken.pem"), broken);
    const start = `providers.corp.${message.replace("FOLDER", dir.path).replaceAll("PEMS/", pemPath(""))}`;
    expect(() => loadTls(files(dir.file), "corp", {})).toThrow(
      expect.objectContaining({ code: "config", message: expect.stringContaining(start) }),
    );
  });
});
