// Answers from a recording, with no network and no key. Everything above the transport is the real thing.
import { AppError } from "../../util/error.ts";
import { readHead } from "../body.ts";
import { secretsOf, type Transport } from "../http.ts";
import { toHttpError } from "../http-error.ts";
import { createOpenAiChat } from "../openai-chat/index.ts";
import type { Provider } from "../provider.ts";
import { defaultQuirks } from "../quirks.ts";
import { findDifference } from "./difference.ts";
import { digestOf, type Exchange, parseRecording, toRecordedBody } from "./recording.ts";

export interface ReplayOptions {
  /** Whether chunks come with their recorded pauses. */
  readonly paced: boolean;
  /** Puts placeholders for what changes from run to run, as when the recording was made. */
  readonly steady: (body: string) => string;
}

/** A provider whose model is a recording that fits any request. Throws `AppError` `config` for a text that is no recording. */
export function createReplayProvider(recording: string, name: string, paced: boolean): Provider {
  const transport = createReplayTransport(parseRecording(recording, name), { paced, steady: (body) => body });
  const settings = { name: "replay", baseUrl: "replay:", apiKey: "", idleMs: 0, headers: {}, quirks: defaultQuirks };
  return { ...createOpenAiChat(settings, transport), isReplay: true };
}

/** Answers requests with the exchanges in order. One that differs from what was recorded, or one too many, fails with `replay_mismatch`. */
export function createReplayTransport(exchanges: readonly Exchange[], { paced, steady }: ReplayOptions): Transport {
  let next = 0;
  return async (request, signal) => {
    const number = next + 1;
    const exchange = exchanges[next++];
    if (!exchange) throw new AppError("replay_mismatch", `The recording ends after ${exchanges.length} requests`);
    const { digest } = exchange.request;
    const body = toRecordedBody(steady(request.body), secretsOf(request));
    const isSame = digest === undefined || digest === digestOf(body);
    const difference = isSame ? undefined : findDifference(exchange.request.body, body);
    if (difference !== undefined) {
      throw new AppError("replay_mismatch", `Request ${number} differs from the recording at ${difference}`, {
        hint: "Make the recording again, or run it as it was recorded: same model, prompt, files and options.",
      });
    }
    if (exchange.failure) {
      const { code = "network", message, retryable = true } = exchange.failure;
      throw new AppError(code, message, { retryable });
    }
    if (!exchange.response)
      throw new AppError("replay_mismatch", `The recording was interrupted before the answer to request ${number}`);
    const { status, headers } = exchange.response;
    const answer = hasNoBody(status) ? null : toBody(exchange, paced, signal);
    const response = new Response(answer, { status, headers: { ...headers } });
    if (response.ok) return response;
    throw toHttpError(status, response.headers, await readHead(response, signal, { idleMs: 0 }));
  };
}

/** Statuses whose answers never have one (Fetch standard, "null body status"). */
function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function toBody({ chunks, end }: Exchange, paced: boolean, signal: AbortSignal): ReadableStream<Uint8Array> {
  let index = 0;
  let clock = 0;
  return new ReadableStream({
    async pull(controller) {
      const chunk = chunks[index++];
      if (signal.aborted) return controller.close();
      if (!chunk) return end && end.error === undefined ? controller.close() : controller.error(brokenAgain(end));
      if (paced && chunk.ms > clock) await Bun.sleep(chunk.ms - clock);
      clock = Math.max(clock, chunk.ms);
      controller.enqueue(chunk.bytes);
    },
  });
}

/** The recorded end of a body in the middle; one that its reader gave up, or that was never written down, is a connection that broke. */
function brokenAgain(end: Exchange["end"]): AppError {
  const { code, error = "" } = end ?? {};
  const broke = "The recorded connection broke here";
  return new AppError(code ?? "network", code === undefined ? broke : error, { retryable: true });
}
