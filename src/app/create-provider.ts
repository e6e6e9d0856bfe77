// The provider a configuration names, ready to be asked.
import { type ProviderConfig, requireKey } from "../config/config.ts";
import { createAnthropicMessages } from "../providers/anthropic-messages/index.ts";
import { findProvider } from "../providers/catalog.ts";
import { createHttpTransport, type Transport } from "../providers/http.ts";
import { createOpenAiChat } from "../providers/openai-chat/index.ts";
import type { Provider, ProviderSettings } from "../providers/provider.ts";
import { defaultQuirks, type Quirks, quirkKeys } from "../providers/quirks.ts";
import { loadTls } from "../providers/tls.ts";
import type { Environment } from "../util/environment.ts";
import type { AppError } from "../util/error.ts";

export interface ProviderOptions {
  /** Where the variables of proxies and authorities are looked up. */
  readonly env: Environment;
  readonly cwd: string;
  /** A file to record the provider's traffic to. */
  readonly record?: string | undefined;
  /** A recording to answer from; then no key is needed and nothing is sent. */
  readonly replay?: string | undefined;
}

/** Throws `AppError`: `missing_key` when the provider needs a key and there is none, `config` or `usage` for a file that cannot be used. */
export async function createProvider(config: ProviderConfig, options: ProviderOptions): Promise<Provider> {
  const { env, cwd, record, replay } = options;
  if (replay !== undefined) {
    const { loadReplay } = await import("./recording.ts");
    const adapter = createAdapter(config.api, toSettings(config, ""), loadReplay(replay, cwd));
    return { ...adapter, isReplay: true };
  }
  const apiKey = requireKey(config);
  const { firstByteMs, idleMs, tls, name } = config;
  const recorder = record === undefined ? undefined : await startRecording(record, cwd);
  const transport = createHttpTransport({ firstByteMs, idleMs, env, tls: loadTls(tls, name, env), recorder });
  return createAdapter(config.api, toSettings(config, apiKey), transport);
}

/** Stands in for a provider that cannot be asked, and says why. */
export function createRefusal({ name, api }: ProviderConfig, error: AppError): Provider {
  return {
    name,
    api,
    // biome-ignore lint/correctness/useYield: an answer that never begins
    async *stream() {
      throw error;
    },
  };
}

async function startRecording(path: string, cwd: string) {
  const [{ createRecorder }, { createSteady }] = await Promise.all([
    import("../providers/replay/record.ts"),
    import("./recording.ts"),
  ]);
  return createRecorder(path, createSteady(cwd));
}

/** `sentKey` goes with each request; whatever is configured is hidden, so that a replay hides what the recording hid. */
function toSettings(config: ProviderConfig, sentKey: string): ProviderSettings {
  const { name, baseUrl, idleMs, headers, apiKey } = config;
  const secretValues = [...config.secretValues, ...(apiKey ? [apiKey.trim()] : [])];
  return { name, baseUrl, apiKey: sentKey, idleMs, headers, secretValues, quirks: toQuirks(config) };
}

/** The adapter for a wire API. Both are at hand: one that is loaded when it is asked for takes longer than the rest of its making. */
function createAdapter(api: string, settings: ProviderSettings, transport: Transport): Provider {
  return api === "anthropic-messages"
    ? createAnthropicMessages(settings, transport)
    : createOpenAiChat(settings, transport);
}

/** The user's word over the catalog's over the default. */
function toQuirks({ name, quirks }: ProviderConfig): Quirks {
  const own: Partial<Record<keyof Quirks, unknown>> = {};
  for (const [key, quirk] of Object.entries(quirkKeys)) {
    const value = quirks[key as keyof typeof quirkKeys];
    if (value !== undefined) own[quirk] = value;
  }
  return { ...defaultQuirks, ...findProvider(name)?.quirks, ...(own as Partial<Quirks>) };
}
