// The adapter for OpenAI-compatible chat completions: request conversion, HTTP, SSE and stream conversion put together.
import { AppError } from "../../util/error.ts";
import type { Transport } from "../http.ts";
import type { Chunk, Provider, ProviderRequest, ProviderSettings } from "../provider.ts";
import { streamResponse } from "../stream-response.ts";
import { adaptToRefusal, explainRefusal } from "./refusal.ts";
import { toChatBody } from "./request.ts";
import { createChatReader } from "./stream.ts";

export const openaiCompletions = "openai-completions";

export function createOpenAiChat(settings: ProviderSettings, transport: Transport): Provider {
  /** What the provider turned out to want is kept, so that it refuses only once. */
  let { quirks } = settings;
  let withTemperature = true;
  const told = new Set<string>();

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

  return {
    name: settings.name,
    api: openaiCompletions,
    async *stream(request, signal) {
      const sent = await send(request, signal).catch((error: unknown) => {
        const change = error instanceof AppError ? adaptToRefusal(error, quirks, settings.name) : undefined;
        if (!change) throw error instanceof AppError ? explainRefusal(error, settings.name) : error;
        quirks = { ...quirks, ...change.quirks };
        if (change.withoutTemperature) withTemperature = false;
        return send(request, signal).then(
          (again) => ({ ...again, warnings: [...again.warnings, change.notice] }),
          (second: unknown) => {
            throw second instanceof AppError ? explainRefusal(second, settings.name) : second;
          },
        );
      });
      const told = notices(sent.warnings);
      if (told.length > 0) yield told;
      yield* streamResponse(sent.response, createChatReader(), signal, { idleMs: settings.idleMs });
    },
  };
}
