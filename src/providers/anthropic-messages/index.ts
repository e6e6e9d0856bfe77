// The adapter for Anthropic's Messages API: request conversion, HTTP, SSE and stream conversion put together.
import { AppError } from "../../util/error.ts";
import { hideKeys, type Transport } from "../http.ts";
import { asEvents } from "../json-document.ts";
import type { Provider, ProviderRequest, ProviderSettings } from "../provider.ts";
import { streamResponse } from "../stream-response.ts";
import { explainRefusal } from "./refusal.ts";
import { toMessagesBody } from "./request.ts";
import { createMessagesReader } from "./stream.ts";

export const anthropicMessages = "anthropic-messages";

export function createAnthropicMessages(settings: ProviderSettings, transport: Transport): Provider {
  const hide = hideKeys(settings);
  /** What the provider turned out to refuse stays away, so that it refuses only once. */
  let withTemperature = true;

  function send({ temperature, ...rest }: ProviderRequest, signal: AbortSignal): Promise<Response> {
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
        body: JSON.stringify(toMessagesBody(request, { provider: settings.name, api: anthropicMessages })),
        secrets: [settings.apiKey],
      },
      signal,
    );
  }

  /** Newer models take no temperature but the default; one that was set is then left out, which the user is told. */
  async function sendAdapting(request: ProviderRequest, signal: AbortSignal) {
    try {
      return { response: await send(request, signal), notices: [] };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isSent = withTemperature && request.temperature !== undefined;
      if (!isSent || error.parameter !== "temperature") throw explainRefusal(error);
    }
    withTemperature = false;
    const text = `${settings.name} refused the temperature; asked again without it (it is set in config.toml)`;
    return { response: await send(request, signal), notices: [{ type: "notice", text } as const] };
  }

  return {
    name: settings.name,
    api: anthropicMessages,
    async *stream(request, signal) {
      const { response, notices } = await sendAdapting(request, signal);
      if (notices.length > 0) yield notices;
      yield* streamResponse(asEvents(response), createMessagesReader(hide), signal, { idleMs: settings.idleMs });
    },
  };
}
