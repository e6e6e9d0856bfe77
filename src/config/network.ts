// The part of a provider's table that shapes its connections: further headers and certificate files.
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import { resolvePath } from "../util/paths.ts";

export interface NetworkTable {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly ca?: string | undefined;
  readonly client_cert?: string | undefined;
  readonly client_key?: string | undefined;
}

export interface NetworkConfig {
  /** Further headers of every request; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The values among them that come from the environment. */
  readonly secretValues: readonly string[];
  /** PEM files by absolute path; whether they can be used shows when they are read. */
  readonly tls: {
    readonly ca: string | undefined;
    readonly clientCert: string | undefined;
    readonly clientKey: string | undefined;
  };
}

const wholeVariable = /^\$([A-Za-z_]\w*)$/;

/** The same table with its files named from `folder` on. */
export function absolutePaths<Table extends NetworkTable>(table: Table, folder: string): Table {
  const files = (["ca", "client_cert", "client_key"] as const).flatMap((key) => {
    const file = table[key];
    return file === undefined ? [] : [[key, resolvePath(folder, file)]];
  });
  return { ...table, ...Object.fromEntries(files) };
}

/** Takes a table whose paths are absolute. Throws `AppError` `config` for a header that cannot be sent. */
export function resolveNetwork(table: NetworkTable, provider: string, env: Environment): NetworkConfig {
  const headers: Record<string, string> = {};
  const secretValues: string[] = [];
  for (const [name, text] of Object.entries(table.headers ?? {})) {
    const { value, isSecret } = resolveHeader(name, text, `providers.${provider}.headers.${name}`, env);
    headers[name.toLowerCase()] = value;
    if (isSecret) secretValues.push(value);
  }
  return {
    headers,
    secretValues,
    tls: { ca: table.ca, clientCert: table.client_cert, clientKey: table.client_key },
  };
}

/** The variables that headers take their values from and whose names say that they hold a secret. */
export function headerKeyVariables({ headers = {} }: NetworkTable): string[] {
  return Object.values(headers)
    .flatMap((value) => wholeVariable.exec(value)?.[1] ?? [])
    .filter((name) => /key|token|secret|pass|auth|credential/i.test(name));
}

/** The value of a header; one from the environment is secret. */
function resolveHeader(name: string, text: string, key: string, env: Environment) {
  const variable = wholeVariable.exec(text)?.[1];
  const value = variable === undefined ? text : env[variable];
  if (value === undefined) {
    throw new AppError("config", `${key}: $${variable} is not set`, { hint: "Set it, or write the value itself." });
  }
  try {
    new Headers({ [name]: value });
  } catch {
    throw new AppError("config", `${key} cannot be sent as a header: check its name and value`);
  }
  return { value, isSecret: variable !== undefined };
}
