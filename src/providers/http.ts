// The one place that talks to a provider: a POST whose answer streams back, with its time limit and its failures as AppErrors.
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import { plainReason } from "../util/plain-reason.ts";
import { namedSecrets, redact } from "../util/redact.ts";
import { headOf } from "../util/truncate.ts";
import { type Answer, type BodyLimits, type ByteSource, readHead, withBody } from "./body.ts";
import { connectionLost } from "./connection-error.ts";
import { toHttpError } from "./http-error.ts";
import { chooseProxy, describeProxy, describeTarget, proxySecrets, type Route, toFetchProxy } from "./network.ts";
import type { ProviderSettings } from "./provider.ts";
import type { TlsOptions } from "./tls.ts";

/** A request as it goes out. `secrets` are never shown in an error, and neither are the values of headers that are secret by their names. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  readonly secrets: readonly string[];
}

/**
 * Sends a request and gives its successful response; throws `AppError` for everything else, and a body that fails does so with one.
 * Recordings implement it too.
 */
export type Transport = (request: HttpRequest, signal: AbortSignal) => Promise<Answer>;

/** Told of one request: what came of it, unless the user gave it up. `answered` gives the response to go on with. */
export interface Exchange {
  answered(response: Answer): Answer;
  failed(error: AppError): void;
}

/** Told of every request as it goes out; its `secrets` are all of them. */
export type Recorder = (request: HttpRequest) => Exchange;

export interface HttpOptions extends Partial<BodyLimits> {
  /** How long a server may take until the first byte of its answer's body, in milliseconds; 0 = for ever. */
  readonly firstByteMs: number;
  /** Where the proxy variables are looked up; without it every request goes directly. */
  readonly env?: Environment | undefined;
  readonly tls?: TlsOptions | undefined;
  readonly recorder?: Recorder | undefined;
}

export function createHttpTransport(options: HttpOptions): Transport {
  const { firstByteMs, idleMs = 0, env = {}, tls, recorder } = options;
  return async (request, signal) => {
    const route = chooseProxy(request.url, env);
    const secrets = () => [...secretsOf(request), ...proxySecrets(route)];
    const hide = (text: string) => redact(text, secrets());
    // Ended by the user or by the limit; `AbortSignal.any` would be made for each request and costs more.
    const end = new AbortController();
    const abort = () => end.abort();
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    const timer = firstByteMs > 0 ? setTimeout(abort, firstByteMs) : undefined;
    // A body that nobody reads is no reason to stay.
    timer?.unref();
    const begun = () => clearTimeout(timer);
    const over = () => {
      begun();
      signal.removeEventListener("abort", abort);
    };
    /** What the user or the limit ended, or else `failure`. */
    const reasonOf = (failure: () => AppError): AppError => {
      if (signal.aborted) return new AppError("aborted", "Request aborted");
      return end.signal.aborted ? slowStart(request.url, route, firstByteMs / 1000) : failure();
    };
    const exchange = recorder?.({ ...request, secrets: secrets() });
    let response: Answer;
    try {
      const fetched = await fetch(request.url, {
        method: "POST",
        headers: request.headers,
        body: request.body,
        signal: end.signal,
        proxy: toFetchProxy(route),
        ...(tls ? { tls } : {}),
        // Bun would cut an idle connection after five minutes; silence has limits of its own here.
        timeout: false,
        redirect: "manual",
      });
      response = watchBody(fetched, {
        begun,
        over,
        broken: (error) => reasonOf(() => connectionLost(error, hide)),
      });
    } catch (error) {
      over();
      const failure = reasonOf(() => toNetworkError(error, request.url, route, hide));
      if (failure.code !== "aborted") exchange?.failed(failure);
      throw failure;
    }
    response = exchange?.answered(response) ?? response;
    if (response.ok) return response;
    const body = hide(await readHead(response, signal, { idleMs }));
    if (response.status === 407 && route !== "direct")
      throw proxyRefusal(request.url, route, `407: ${headOf(body.trim(), 500)}`);
    throw toHttpError(response.status, hideLocation(response.headers, hide), body);
  };
}

interface BodyWatcher {
  /** Called when bytes have come. */
  begun(): void;
  /** Called when none will be waited for any more. */
  over(): void;
  /** The body's failure in our words. */
  broken(error: unknown): AppError;
}

function watchBody(response: Response, watcher: BodyWatcher): Answer {
  const { body } = response;
  if (!body) watcher.over();
  return withBody(response, body && { getReader: () => watch(body.getReader(), watcher) });
}

function watch(reader: ByteSource, { begun, over, broken }: BodyWatcher): ByteSource {
  return {
    async read() {
      try {
        const part = await reader.read();
        if (part.done) over();
        else begun();
        return part;
      } catch (error) {
        over();
        throw broken(error);
      }
    },
    cancel(reason) {
      over();
      return reader.cancel(reason);
    },
  };
}

/** All that must not be shown of a request; what a header takes from a variable is among its `secrets`. */
export function secretsOf({ secrets, headers }: Pick<HttpRequest, "secrets" | "headers">): string[] {
  return [...secrets, ...namedSecrets(headers)];
}

/** What of a provider's settings goes into the `secrets` of a request. */
export function keysOf({ apiKey, secretValues = [] }: Pick<ProviderSettings, "apiKey" | "secretValues">): string[] {
  return [apiKey, ...secretValues];
}

/** Takes a provider's keys out of text that will be shown. */
export function hideKeys(
  settings: Pick<ProviderSettings, "apiKey" | "secretValues" | "headers">,
): (text: string) => string {
  const secrets = secretsOf({ secrets: keysOf(settings), headers: settings.headers });
  return (text) => redact(text, secrets);
}

/** The headers of a response, with what `hide` takes out of the address they may name. */
export function hideLocation(headers: Headers, hide: (text: string) => string): Headers {
  const location = headers.get("location");
  if (location === null) return headers;
  const copy = new Headers(headers);
  copy.set("location", hide(location));
  return copy;
}

/** The error of a server that keeps silent. */
function slowStart(url: string, route: Route, seconds: number): AppError {
  return new AppError("timeout", `${describeTarget(url, route)} did not begin to answer within ${seconds} s`, {
    retryable: true,
    hint: "Try again, or raise first_byte_timeout (seconds, 0 = off) for a slow server.",
  });
}

/** The error of a proxy that lets nothing through; `reason` holds its status, and no keys. */
export function proxyRefusal(url: string, route: Exclude<Route, "direct">, reason: string): AppError {
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
  ERR_TLS_CERT_ALTNAME_INVALID: "Check the base URL, and whether another server answers in its place.",
  EPROTO:
    "Check that the base URL's scheme fits the server, and whether it asks for a client certificate (client_cert).",
};

/** Whether a connection failed at TLS, by Bun's code. */
export function isTlsFailure(code: string): boolean {
  return Object.hasOwn(tlsHints, code);
}

/** The error of a request that got no answer. */
export function toNetworkError(error: unknown, url: string, route: Route, hide: (text: string) => string): AppError {
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  if (code === "ERR_PROXY_TUNNEL" && route !== "direct") {
    return proxyRefusal(url, route, hide(message.replace(/^Proxy refused to open a tunnel: /, "")));
  }
  const tlsHint = tlsHints[code];
  return new AppError("network", `Could not reach ${describeTarget(url, route)}: ${plainReason(error, hide)}`, {
    retryable: tlsHint === undefined,
    hint:
      tlsHint ??
      (route === "direct" ? "Check the network and the base URL." : `Check the network and $${route.variable}.`),
    cause: error,
  });
}
