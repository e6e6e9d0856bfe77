// The adapter for Anthropic's Messages API: request conversion, HTTP, SSE and stream conversion put together.
import type { Transport } from "../http.ts";
import type { Provider, ProviderSettings } from "../provider.ts";
import { streamResponse } from "../stream-response.ts";
import { toMessagesBody } from "./request.ts";
import { createMessagesReader } from "./stream.ts";

export const anthropicMessages = "anthropic-messages";

export function createAnthropicMessages(settings: ProviderSettings, transport: Transport): Provider {
  return {
    name: settings.name,
    api: anthropicMessages,
    async *stream(request, signal) {
      const response = await transport(
        {
          url: `${settings.baseUrl}/messages`,
          headers: {
            "content-type": "application/json",
            accept: "text/event-stream",
            "anthropic-version": "2023-06-01",
            ...settings.headers,
            ...(settings.apiKey === "" ? {} : { "x-api-key": settings.apiKey }),
          },
          body: JSON.stringify(toMessagesBody(request, { provider: settings.name, api: anthropicMessages })),
          secrets: [settings.apiKey],
        },
        signal,
      );
      yield* streamResponse(response, createMessagesReader(), signal, { idleMs: settings.idleMs });
    },
  };
}
