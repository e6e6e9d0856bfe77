// GET {base_url}/models (OpenAI API reference, "List models"; Anthropic API reference, "List models"), which compatible servers answer too.
import { type FetchError, ofetch } from "ofetch";
import { now } from "../util/clock.ts";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import { isObject } from "../util/is-object.ts";
import { redact } from "../util/redact.ts";
import { headOf } from "../util/truncate.ts";
import { readHead, readWhole } from "./body.ts";
import { hideLocation, proxyRefusal, toNetworkError } from "./http.ts";
import { toHttpError } from "./http-error.ts";
import { chooseProxy, describeTarget, proxySecrets, type Route, toFetchProxy } from "./network.ts";
import type { TlsOptions } from "./tls.ts";

/** How the provider is reached, beside its address and key. */
export interface ListOptions {
  /** The wire API; the OpenAI-compatible one unless said. */
  readonly api?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Environment;
  readonly tls: TlsOptions | undefined;
  /** How long all of it may take, to the last byte and sent again or not, in milliseconds; 30 s unless said. */
  readonly timeoutMs?: number;
  /** How often it is sent again when there is no connection; once unless said. */
  readonly retries?: number;
}

/** The longest lists of those who sell everyone's models have less than 1 MB. */
const maxBytes = 5 * 1024 * 1024;

/** What a server says when asked for its models. */
export interface ModelsAnswer {
  readonly status: number;
  /** Sorted; undefined when the answer is no list of models. */
  readonly ids?: string[];
  /** What a status that is not 2xx means. */
  readonly refusal?: AppError;
}

/** The ids a provider lists, sorted. Throws `AppError`. */
export async function listModels(baseUrl: string, apiKey: string, options: ListOptions): Promise<string[]> {
  const { ids, refusal } = await askForModels(baseUrl, apiKey, options);
  if (refusal) throw refusal;
  if (!ids) {
    const target = describeTarget(baseUrl, chooseProxy(baseUrl, options.env));
    throw new AppError("server", `${target} did not answer with a list of models`, { hint: wrongServer });
  }
  return ids;
}

const wrongServer = "Something else than a provider may answer there: check the base URL and the proxy.";

/** Asks, and takes any answer. Throws `AppError` (`network`, `timeout`, `server`, `config`) when there is none, or no end of it. */
export async function askForModels(baseUrl: string, apiKey: string, options: ListOptions): Promise<ModelsAnswer> {
  const { api, env, tls, timeoutMs = 30_000, retries = 1 } = options;
  const isMessages = api === "anthropic-messages";
  const key = isMessages
    ? { "anthropic-version": "2023-06-01", ...(apiKey === "" ? {} : { "x-api-key": apiKey }) }
    : apiKey === ""
      ? {}
      : { authorization: `Bearer ${apiKey}` };
  const headers: Record<string, string> = { ...options.headers, ...key };
  const route = chooseProxy(baseUrl, env);
  const hide = (text: string) => redact(text, [apiKey, ...Object.values(headers), ...proxySecrets(route)]);
  // Anthropic's own list has pages, of 20 models unless more are asked for.
  const url = `${baseUrl}/models${isMessages ? "?limit=1000" : ""}`;
  const way = { proxy: toFetchProxy(route), redirect: "manual" as const, ...(tls ? { tls } : {}) };
  const end = new AbortController();
  const due = now() + timeoutMs;
  const timer = setTimeout(() => end.abort(), timeoutMs);
  const reasonOf = (error: unknown, begun: boolean) =>
    end.signal.aborted ? tooSlow(baseUrl, route, timeoutMs, begun) : toNetworkError(error, baseUrl, route, hide);
  try {
    // ofetch's own time limit would end with the headers, and it would read a body of any size.
    const request = { headers, signal: end.signal, retry: retries, ignoreResponseError: true, ...way };
    const response = await ofetch
      .raw(url, { ...request, responseType: "stream" })
      .catch((error: FetchError) => Promise.reject(reasonOf(error.cause ?? error, false)));
    const { status } = response;
    if (!response.ok) {
      // The status says enough, whatever becomes of the body.
      const idleMs = Math.max(1, due - now());
      const body = hide(await readHead(response, new AbortController().signal, { idleMs })).trim();
      if (status === 407 && route !== "direct") throw proxyRefusal(baseUrl, route, `407: ${headOf(body, 500)}`);
      return { status, refusal: toHttpError(status, hideLocation(response.headers, hide), body) };
    }
    const text = await readWhole(response, end.signal, maxBytes).catch((error: AppError) =>
      Promise.reject(reasonOf(error.cause ?? error, true)),
    );
    if (text === undefined) {
      const most = `${maxBytes / 1024 / 1024} MB`;
      throw new AppError(
        "server",
        `${describeTarget(baseUrl, route)} answered with more than ${most}, too much for a list of models`,
        {
          hint: wrongServer,
        },
      );
    }
    const ids = idsIn(text);
    return ids ? { status, ids } : { status };
  } finally {
    clearTimeout(timer);
    end.abort();
  }
}

/** Sorted; undefined when the text is no list of models. */
function idsIn(text: string): string[] | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(answer) || !Array.isArray(answer.data)) return undefined;
  const ids = answer.data.map((entry: { id?: unknown } | null) => String(entry?.id ?? ""));
  return ids.filter((id) => id !== "").sort();
}

function tooSlow(url: string, route: Route, timeoutMs: number, begun: boolean): AppError {
  const what = begun ? "answer in full" : "begin to answer";
  return new AppError("timeout", `${describeTarget(url, route)} did not ${what} within ${timeoutMs / 1000} s`, {
    retryable: true,
    hint: "A very slow server, or one that is no provider: check the base URL, a firewall and the proxy.",
  });
}
