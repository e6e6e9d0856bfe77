// The adapter for Anthropic's Messages API: request conversion, HTTP, SSE and stream conversion put together.
import type { Answer } from "../body.ts";
import { createCallIds } from "../call-ids.ts";
import { hideKeys, keysOf, type Transport } from "../http.ts";
import type { Provider, ProviderRequest, ProviderSettings } from "../provider.ts";
import { sendAdapting, withoutTemperature } from "../refusal.ts";
import { streamResponse } from "../stream-response.ts";
import { configKeys } from "./refusal.ts";
import { toMessagesBody } from "./request.ts";
import { createMessagesReader } from "./stream.ts";

const anthropicMessages = "anthropic-messages";

export function createAnthropicMessages(settings: ProviderSettings, transport: Transport): Provider {
  const { name, idleMs } = settings;
  const hide = hideKeys(settings);
  /** What the provider turned out to refuse stays away, so that it refuses only once. */
  let withTemperature = true;

  function send({ temperature, ...rest }: ProviderRequest, signal: AbortSignal): Promise<Answer> {
    const request = withTemperature ? { ...rest, temperature } : rest;
    return transport(
      {
        url: `${settings.baseUrl}/messages`,
        headers: {
          "content-type": "application/json",
          accept: "text/event-stream",
          "anthropic-version": "2023-06-01",
          ...settings.headers,
          ...(settings.apiKey === "" ? {} : { "x-api-key": settings.apiKey }),
        },
        body: JSON.stringify(toMessagesBody(request, { provider: name, api: anthropicMessages })),
        secrets: keysOf(settings),
      },
      signal,
    );
  }

  return {
    name,
    api: anthropicMessages,
    async *stream(request, signal) {
      const { answer: response, notices } = await sendAdapting(
        () => send(request, signal),
        ({ parameter }) => {
          const isSent = withTemperature && request.temperature !== undefined;
          if (parameter !== "temperature" || !isSent) return undefined;
          return withoutTemperature(name, () => {
            withTemperature = false;
          });
        },
        () => configKeys,
      );
      if (notices.length > 0) yield notices.map((text) => ({ type: "notice", text }) as const);
      const reader = createMessagesReader(hide, createCallIds(request.messages));
      yield* streamResponse(response, reader, signal, { idleMs, hide });
    },
  };
}
