// The certificates of a provider's own configuration, read and checked once at start, so that a wrong file is told by name
// instead of as a failed connection.
import { readFileSync } from "node:fs";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import { defaultAuthorities } from "./authorities.ts";

/** PEM files by absolute path; `clientKey` may be left out where the certificate's file holds the key too. */
export interface TlsFiles {
  readonly ca?: string | undefined;
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
}

/** What fetch takes as `tls`. */
export interface TlsOptions {
  ca?: string[];
  cert?: string;
  key?: string;
}

/** Reads the files of provider `provider`; undefined when there are none. Throws `AppError` `config` naming the key and the file. */
export function loadTls(files: TlsFiles, provider: string, env: Environment): TlsOptions | undefined {
  const { ca, clientCert, clientKey } = files;
  const options: TlsOptions = {};
  if (ca !== undefined) {
    const own = readAuthorities({ key: `providers.${provider}.ca`, path: ca });
    // Authorities given to fetch replace all it trusts otherwise, so those are given again.
    options.ca = [...defaultAuthorities(env), own];
  }
  if (clientCert !== undefined) {
    const cert = { key: `providers.${provider}.client_cert`, path: clientCert };
    const key = clientKey === undefined ? cert : { key: `providers.${provider}.client_key`, path: clientKey };
    Object.assign(options, readClient(cert, key));
  } else if (clientKey !== undefined) {
    throw new AppError("config", `providers.${provider}.client_key needs a client_cert beside it`);
  }
  return ca === undefined && clientCert === undefined ? undefined : options;
}

interface Source {
  /** The configuration key. */
  readonly key: string;
  readonly path: string;
}

const certificates = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

function readAuthorities(source: Source): string {
  const text = read(source);
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  const found = text.match(certificates);
  if (!found) throw wrong(source, "holds no PEM certificate");
  for (const certificate of found)
    attempt(source, "holds a broken certificate", () => new X509Certificate(certificate));
  return text;
}

function readClient(certSource: Source, keySource: Source): TlsOptions {
  const { X509Certificate, createPrivateKey } = process.getBuiltinModule("node:crypto");
  const cert = read(certSource);
  const certificate = attempt(certSource, "holds no usable PEM certificate", () => new X509Certificate(cert));
  const key = read(keySource);
  const privateKey = attempt(keySource, "holds no usable PEM key (one without a passphrase)", () =>
    createPrivateKey(key),
  );
  if (!certificate.checkPrivateKey(privateKey)) throw wrong(keySource, `is not the key of ${certSource.path}`);
  return { cert, key };
}

function read({ key, path }: Source): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("config", `${key}: cannot read ${path}: ${(error as Error).message}`, { hint: hint(key) });
  }
}

function attempt<T>(source: Source, problem: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw wrong(source, problem);
  }
}

function wrong({ key, path }: Source, problem: string): AppError {
  return new AppError("config", `${key}: ${path} ${problem}`, { hint: hint(key) });
}

function hint(key: string): string {
  return `Correct ${key} in config.toml; a relative path is taken from the folder of that file.`;
}
