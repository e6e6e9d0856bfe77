// GET {base_url}/models (OpenAI API reference, "List models"; Anthropic API reference, "List models"), which compatible servers answer too.
import { type FetchError, ofetch } from "ofetch";
import { AppError } from "../util/error.ts";
import { redact } from "../util/redact.ts";
import { headOf } from "../util/truncate.ts";
import { hideLocation, proxyRefusal, slowStart, toNetworkError } from "./http.ts";
import { toHttpError } from "./http-error.ts";
import { chooseProxy, type Environment, proxySecrets, toFetchProxy } from "./network.ts";
import type { TlsOptions } from "./tls.ts";

/** How the provider is reached, beside its address and key. */
export interface ListOptions {
  /** The wire API; the OpenAI-compatible one unless said. */
  readonly api?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Environment;
  readonly tls: TlsOptions | undefined;
  /** How long one request may take, in milliseconds; 30 s unless said. */
  readonly timeoutMs?: number;
  /** How often it is sent again; once unless said. */
  readonly retries?: number;
}

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
  if (!ids) throw new AppError("server", `${baseUrl}/models did not answer with a list of models`);
  return ids;
}

/** Asks, and takes any answer. Throws `AppError` (`network`, `timeout`, `config`) when there is none. */
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
  const response = await ofetch
    .raw<unknown>(url, { headers, timeout: timeoutMs, retry: retries, ignoreResponseError: true, ...way })
    .catch((error: FetchError) => {
      const cause = (error.cause ?? error) as Error;
      throw cause.name === "TimeoutError"
        ? slowStart(baseUrl, route, timeoutMs / 1000)
        : toNetworkError(cause, baseUrl, route, hide);
    });
  const { status } = response;
  if (!response.ok) {
    const body = typeof response._data === "string" ? response._data : JSON.stringify(response._data ?? "");
    if (status === 407 && route !== "direct") throw proxyRefusal(baseUrl, route, `407: ${headOf(hide(body), 500)}`);
    return { status, refusal: toHttpError(status, hideLocation(response.headers, hide), hide(body)) };
  }
  const { data } = (response._data ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) return { status };
  const ids = data.map((entry: { id?: unknown }) => String(entry?.id ?? "")).filter((id) => id !== "");
  return { status, ids: ids.sort() };
}
