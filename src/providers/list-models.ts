// GET {base_url}/models (OpenAI API reference, "List models"), which compatible servers answer too.
import { ofetch } from "ofetch";
import { AppError } from "../util/error.ts";
import { redact } from "../util/redact.ts";
import { toHttpError } from "./http-error.ts";
import { chooseProxy, describeTarget, type Environment, proxySecrets, toFetchProxy } from "./network.ts";
import type { TlsOptions } from "./tls.ts";

/** How the provider is reached, beside its address and key. */
export interface ListOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Environment;
  readonly tls: TlsOptions | undefined;
}

/** The ids a provider lists, sorted. Throws `AppError`. */
export async function listModels(baseUrl: string, apiKey: string, options: ListOptions): Promise<string[]> {
  const { env, tls } = options;
  const headers = { ...options.headers, ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }) };
  const route = chooseProxy(baseUrl, env);
  const hide = (text: string) => redact(text, [apiKey, ...Object.values(headers), ...proxySecrets(route)]);
  const way = { proxy: toFetchProxy(route), ...(tls ? { tls } : {}) };
  const response = await ofetch
    .raw<unknown>(`${baseUrl}/models`, { headers, timeout: 30_000, retry: 1, ignoreResponseError: true, ...way })
    .catch((error: Error) => {
      throw new AppError("network", hide(`Could not reach ${describeTarget(baseUrl, route)}: ${error.message}`), {
        retryable: true,
      });
    });
  if (!response.ok) throw toHttpError(response.status, response.headers, hide(JSON.stringify(response._data ?? "")));
  const { data } = (response._data ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) throw new AppError("server", `${baseUrl}/models did not answer with a list of models`);
  return data
    .map((entry: { id?: unknown }) => String(entry?.id ?? ""))
    .filter((id) => id !== "")
    .sort();
}
