// The one place that talks to a provider: a POST whose answer streams back, with its time limit and its failures as AppErrors.
import { AppError } from "../util/error.ts";
import { redact } from "../util/redact.ts";
import { headOf } from "../util/truncate.ts";
import { toHttpError } from "./http-error.ts";
import {
  chooseProxy,
  describeProxy,
  describeTarget,
  type Environment,
  proxySecrets,
  type Route,
  toFetchProxy,
} from "./network.ts";
import type { ProviderSettings } from "./provider.ts";
import type { TlsOptions } from "./tls.ts";

/** A request as it goes out. `secrets` are never shown in an error, and neither are the values of its headers. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  readonly secrets: readonly string[];
}

/** Sends a request and gives its successful response; throws `AppError` for everything else. Recordings implement it too. */
export type Transport = (request: HttpRequest, signal: AbortSignal) => Promise<Response>;

/** Told of one request: what came of it, unless the user gave it up. `answered` gives the response to go on with. */
export interface Exchange {
  answered(response: Response): Response;
  failed(error: AppError): void;
}

/** Told of every request as it goes out; its `secrets` are all of them. */
export type Recorder = (request: HttpRequest) => Exchange;

export interface HttpOptions {
  /** How long a server may take to begin its answer, in milliseconds; 0 = for ever. */
  readonly firstByteMs: number;
  /** Where the proxy variables are looked up; without it every request goes directly. */
  readonly env?: Environment | undefined;
  readonly tls?: TlsOptions | undefined;
  readonly recorder?: Recorder | undefined;
}

export function createHttpTransport({ firstByteMs, env = {}, tls, recorder }: HttpOptions): Transport {
  return async (request, signal) => {
    const route = chooseProxy(request.url, env);
    const secrets = [...request.secrets, ...headerSecrets(request.headers), ...proxySecrets(route)];
    const hide = (text: string) => redact(text, secrets);
    const limit = new AbortController();
    const timer = firstByteMs > 0 ? setTimeout(() => limit.abort(), firstByteMs) : undefined;
    const either = AbortSignal.any([signal, limit.signal]);
    const exchange = recorder?.({ ...request, secrets });
    const failed = (error: AppError) => {
      exchange?.failed(error);
      return error;
    };
    try {
      const fetched = await fetch(request.url, {
        method: "POST",
        headers: request.headers,
        body: request.body,
        signal: either,
        proxy: toFetchProxy(route),
        ...(tls ? { tls } : {}),
        // Bun would cut an idle connection after five minutes; silence has limits of its own here.
        timeout: false,
        redirect: "manual",
      });
      const response = exchange?.answered(fetched) ?? fetched;
      if (response.ok) return response;
      const body = hide(await response.text());
      if (response.status === 407 && route !== "direct")
        throw proxyRefusal(request.url, route, `407: ${headOf(body.trim(), 500)}`);
      throw toHttpError(response.status, hideLocation(response.headers, hide), body);
    } catch (error) {
      if (signal.aborted) throw new AppError("aborted", "Request aborted");
      if (limit.signal.aborted) throw failed(slowStart(request.url, route, firstByteMs / 1000));
      if (error instanceof AppError) throw error;
      throw failed(toNetworkError(error, request.url, route, hide));
    } finally {
      clearTimeout(timer);
    }
  };
}

const publicHeaders = /^(?:content-type|accept|user-agent|anthropic-(?:version|beta))$/i;

/** A configured header's value may be a key as well as anything else. */
function headerSecrets(headers: HttpRequest["headers"]): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (publicHeaders.test(name) ? [] : [value]));
}

/** Takes a provider's key and the values of its headers out of text that will be shown. */
export function hideKeys({ apiKey, headers }: Pick<ProviderSettings, "apiKey" | "headers">): (text: string) => string {
  const secrets = [apiKey, ...headerSecrets(headers)];
  return (text) => redact(text, secrets);
}

function hideLocation(headers: Headers, hide: (text: string) => string): Headers {
  const location = headers.get("location");
  if (location === null) return headers;
  const copy = new Headers(headers);
  copy.set("location", hide(location));
  return copy;
}

function slowStart(url: string, route: Route, seconds: number): AppError {
  return new AppError("timeout", `${describeTarget(url, route)} did not begin to answer within ${seconds} s`, {
    retryable: true,
    hint: "Try again, or raise first_byte_timeout (seconds, 0 = off) for a slow server.",
  });
}

function proxyRefusal(url: string, route: Exclude<Route, "direct">, reason: string): AppError {
  const status = Number(/\b[1-5]\d\d\b/.exec(reason)?.[0]);
  const next =
    status === 407
      ? `Check the user name and password in $${route.variable}.`
      : "Ask who runs the proxy, or list the host in NO_PROXY to reach it directly.";
  return new AppError("network", `The proxy ${describeProxy(route)} refused ${new URL(url).origin}: ${reason}`, {
    retryable: status >= 500,
    hint: next,
  });
}

const untrusted = "The server's certificate comes from an authority that is not known here";
const trustIt = `${untrusted}: name its PEM file in $NODE_EXTRA_CA_CERTS, or as \`ca\` of the provider in config.toml.`;
/** Failures of TLS that trying again does not mend, by Bun's code, and what does. */
const tlsHints: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trustIt,
  UNABLE_TO_GET_ISSUER_CERT: trustIt,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trustIt,
  SELF_SIGNED_CERT_IN_CHAIN: trustIt,
  DEPTH_ZERO_SELF_SIGNED_CERT: trustIt,
  CERT_HAS_EXPIRED: "The server's certificate has expired; check this machine's clock too.",
  CERT_NOT_YET_VALID: "The server's certificate is not valid yet; check this machine's clock.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The server's certificate is for another host; check the base URL.",
  EPROTO:
    "Check that the base URL's scheme fits the server, and whether it asks for a client certificate (client_cert).",
};

/** Bun's codes in plainer words than its messages. */
const plainReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ConnectionRefused: "connection refused",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "no such host",
};

function toNetworkError(error: unknown, url: string, route: Route, hide: (text: string) => string): AppError {
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  if (code === "ERR_PROXY_TUNNEL" && route !== "direct") {
    return proxyRefusal(url, route, hide(message.replace(/^Proxy refused to open a tunnel: /, "")));
  }
  const tlsHint = tlsHints[code];
  const reason = plainReasons[code] ?? hide(message.replace(/ For more information, pass `verbose: true`.*$/, ""));
  return new AppError("network", `Could not reach ${describeTarget(url, route)}: ${reason}`, {
    retryable: tlsHint === undefined,
    hint:
      tlsHint ??
      (route === "direct" ? "Check the network and the base URL." : `Check the network and $${route.variable}.`),
    cause: error,
  });
}
