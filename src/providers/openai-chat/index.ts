// The adapter for OpenAI-compatible chat completions: request conversion, HTTP, SSE and stream conversion put together.
import type { AppError } from "../../util/error.ts";
import { createCallIds } from "../call-ids.ts";
import { hideKeys, keysOf, type Transport } from "../http.ts";
import type { Chunk, Provider, ProviderRequest, ProviderSettings } from "../provider.ts";
import { type Detour, sendAdapting, withoutTemperature } from "../refusal.ts";
import { streamResponse } from "../stream-response.ts";
import { configKeys, describeLimitField, otherLimitField } from "./refusal.ts";
import { openaiCompletions, toChatBody } from "./request.ts";
import { createChatReader } from "./stream.ts";

export function createOpenAiChat(settings: ProviderSettings, transport: Transport): Provider {
  /** What the provider turned out to want is kept, so that it refuses only once. */
  let { quirks } = settings;
  let withTemperature = true;
  const { name, idleMs } = settings;
  const told = new Set<string>();
  const hide = hideKeys(settings);

  function notices(texts: readonly string[]): Chunk[] {
    const fresh = texts.filter((text) => !told.has(text));
    for (const text of fresh) told.add(text);
    return fresh.map((text) => ({ type: "notice", text }));
  }

  async function send({ temperature, ...rest }: ProviderRequest, signal: AbortSignal) {
    const request = withTemperature ? { ...rest, temperature } : rest;
    const { body, warnings } = toChatBody(request, { name, quirks });
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
        secrets: keysOf(settings),
      },
      signal,
    );
    return { response, warnings };
  }

  function toDetour(error: AppError, { temperature }: ProviderRequest): Detour | undefined {
    if (error.parameter === "temperature" && withTemperature && temperature !== undefined) {
      return withoutTemperature(name, () => {
        withTemperature = false;
      });
    }
    const maxTokensField = otherLimitField(error, quirks);
    if (maxTokensField === undefined) return undefined;
    return {
      about: "max_tokens",
      notice: describeLimitField(name, maxTokensField),
      take() {
        quirks = { ...quirks, maxTokensField };
      },
    };
  }

  return {
    name,
    api: openaiCompletions,
    async *stream(request, signal) {
      const sent = await sendAdapting(
        () => send(request, signal),
        (error) => toDetour(error, request),
        () => configKeys(name),
      );
      const { response, warnings } = sent.answer;
      const news = notices([...warnings, ...sent.notices]);
      if (news.length > 0) yield news;
      const reader = createChatReader(hide, createCallIds(request.messages));
      yield* streamResponse(response, reader, signal, { idleMs, hide });
    },
  };
}
