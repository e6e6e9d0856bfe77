// A provider that plays scripted chunks and records what it was asked: for tests of the loop without a wire.
import type { Model } from "../../src/protocol/model.ts";
import type { Chunk, Provider, ProviderRequest } from "../../src/providers/provider.ts";
import { AppError } from "../../src/util/error.ts";

/** An answer: chunks, an error thrown before any, or a generator of its own, such as one that waits for the abort. */
export type ScriptedAnswer =
  | readonly Chunk[]
  | AppError
  | ((request: ProviderRequest, signal: AbortSignal) => AsyncIterable<readonly Chunk[]>);

export interface ScriptedProvider extends Provider {
  /** What it was asked, with the messages as they were then. */
  readonly requests: readonly ProviderRequest[];
}

export const testModel: Model = {
  id: "test-model",
  name: "Test model",
  api: "scripted",
  provider: "scripted",
  baseUrl: "http://test.invalid/v1",
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
  contextWindow: 100_000,
  maxTokens: 10_000,
};

/** Gives `answers` in order, each chunk in a batch of its own; a further request throws. */
export function createScriptedProvider(answers: readonly ScriptedAnswer[]): ScriptedProvider {
  const requests: ProviderRequest[] = [];
  return {
    name: "scripted",
    api: "scripted",
    requests,
    async *stream(request, signal) {
      const answer = answers[requests.length];
      requests.push({ ...request, messages: [...request.messages] });
      if (answer === undefined) throw new AppError("internal", "the script has no answer left");
      if (answer instanceof AppError) throw answer;
      if (typeof answer === "function") yield* answer(request, signal);
      else for (const chunk of answer) yield [chunk];
    },
  };
}

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown> | string;
}

export interface ScriptedTurn {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Defaults to `toolUse` with calls and `stop` without. */
  readonly reason?: "stop" | "length" | "toolUse";
}

/** The chunks of a whole answer. */
export function turn({ text, thinking, calls = [], reason }: ScriptedTurn): Chunk[] {
  const chunks: Chunk[] = [];
  if (thinking !== undefined) chunks.push({ type: "thinking", delta: thinking });
  if (text !== undefined) chunks.push({ type: "text", delta: text });
  for (const [index, { id, name, args }] of calls.entries()) {
    const json = typeof args === "string" ? args : JSON.stringify(args);
    chunks.push({ type: "toolcall_start", index, id, name });
    if (json !== "") chunks.push({ type: "toolcall_delta", index, delta: json });
  }
  const end = reason ?? (calls.length > 0 ? "toolUse" : "stop");
  return [...chunks, { type: "end", reason: end, raw: end }];
}

/** An answer that says `text` and then waits for the abort. */
export function hangAfter(text: string, reached: () => void): ScriptedAnswer {
  return async function* (_request, signal) {
    yield [{ type: "text", delta: text }];
    reached();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve());
    });
    yield [{ type: "error", error: new AppError("aborted", "Request aborted") }];
  };
}
