// The adapter for OpenAI-compatible chat completions: request conversion, HTTP, SSE and stream conversion put together.
import { AppError } from "../../util/error.ts";
import { hideKeys, type Transport } from "../http.ts";
import { asEvents } from "../json-document.ts";
import type { Chunk, Provider, ProviderRequest, ProviderSettings } from "../provider.ts";
import { streamResponse } from "../stream-response.ts";
import { type Adaptation, adaptToRefusal, explainRefusal } from "./refusal.ts";
import { toChatBody } from "./request.ts";
import { createChatReader } from "./stream.ts";

export const openaiCompletions = "openai-completions";

export function createOpenAiChat(settings: ProviderSettings, transport: Transport): Provider {
  /** What the provider turned out to want is kept, so that it refuses only once. */
  let { quirks } = settings;
  let withTemperature = true;
  const told = new Set<string>();
  const hide = hideKeys(settings);

  function notices(texts: readonly string[]): Chunk[] {
    const fresh = texts.filter((text) => !told.has(text));
    for (const text of fresh) told.add(text);
    return fresh.map((text) => ({ type: "notice", text }));
  }

  async function send(request: ProviderRequest, signal: AbortSignal) {
    const { temperature, ...rest } = request;
    const wanted = withTemperature ? request : rest;
    const { body, warnings } = toChatBody(wanted, { name: settings.name, quirks });
    const response = await transport(
      {
        url: `${settings.baseUrl}/chat/completions`,
        headers: {
          "content-type": "application/json",
          accept: "text/event-stream",
          ...settings.headers,
          ...(settings.apiKey === "" ? {} : { authorization: `Bearer ${settings.apiKey}` }),
        },
        body: JSON.stringify(body),
        secrets: [settings.apiKey],
      },
      signal,
    );
    return { response, warnings };
  }

  /** Asks, and once more for each parameter that is refused and has another form. */
  async function sendAdapting(request: ProviderRequest, signal: AbortSignal) {
    const detours = new Map<Adaptation["about"], string>();
    for (;;) {
      try {
        const { response, warnings } = await send(request, signal);
        return { response, warnings: [...warnings, ...detours.values()] };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const change = adaptToRefusal(error, quirks, settings.name);
        if (!change || detours.has(change.about)) throw explainRefusal(error, settings.name);
        detours.set(change.about, change.notice);
        quirks = { ...quirks, ...change.quirks };
        if (change.about === "temperature") withTemperature = false;
      }
    }
  }

  return {
    name: settings.name,
    api: openaiCompletions,
    async *stream(request, signal) {
      const { response, warnings } = await sendAdapting(request, signal);
      const news = notices(warnings);
      if (news.length > 0) yield news;
      yield* streamResponse(asEvents(response), createChatReader(hide), signal, { idleMs: settings.idleMs });
    },
  };
}
