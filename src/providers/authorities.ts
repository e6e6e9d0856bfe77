// The authorities that are believed without a word in the configuration.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "../util/environment.ts";

/** Files of authorities that the runtime reads, and folders of such files. */
export const authorityVariables = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"] as const;

/** Where the runtime's TLS library looks when a variable is not set at all (BoringSSL, `x509_def.cc`). */
const usualFile = "/etc/ssl/cert.pem";
const usualFolder = "/etc/ssl/certs";

/**
 * All of them, as PEM. The runtime lists the built-in ones, those of NODE_EXTRA_CA_CERTS and with NODE_USE_SYSTEM_CA the system's, but not
 * what its TLS library finds for itself when a server has to be verified: in one file, and in folders by a hash of the authority's name.
 */
export function defaultAuthorities(env: Environment): string[] {
  const listed = process.getBuiltinModule("node:tls").getCACertificates("default");
  const { SSL_CERT_FILE: file = usualFile, SSL_CERT_DIR: folders = usualFolder } = env;
  const paths = [file, ...folders.split(delimiter).flatMap(hashedIn)];
  // Most are in several places.
  const inOneLine = (pem: string) => pem.replace(/\s/g, "");
  const known = new Set(listed.map(inOneLine));
  const found = new Map(paths.flatMap(blocksIn).map((pem) => [inOneLine(pem), pem]));
  const further = [...found].flatMap(([line, pem]) => (known.has(line) || !isCertificate(pem) ? [] : [pem]));
  return [...listed, ...further];
}

/** Whether a file's text holds at least one certificate that can be read. */
export function holdsCertificate(text: string): boolean {
  return toBlocks(text).some(isCertificate);
}

function toBlocks(text: string): string[] {
  return text.match(/-----BEGIN (TRUSTED )?CERTIFICATE-----[\s\S]*?-----END \1CERTIFICATE-----/g) ?? [];
}

function isCertificate(pem: string): boolean {
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  try {
    return Boolean(new X509Certificate(pem));
  } catch {
    return false;
  }
}

function hashedIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => /^[0-9a-f]{8}\.\d+$/.test(name));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** What cannot be read counts as little as it does for the runtime; a FIFO would be waited for. */
function blocksIn(path: string): string[] {
  try {
    return statSync(path).isFile() ? toBlocks(readFileSync(path, "utf8")) : [];
  } catch {
    return [];
  }
}
