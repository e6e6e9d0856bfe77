// Asks a model for the summary of a conversation, in as many requests as it takes: each carries the notes so far and the next piece.
import { estimateText } from "../context/estimate.ts";
import type { Limits } from "../context/limits.ts";
import { partsThatFit, shorten, toTranscript } from "../context/transcript.ts";
import type { Message, ThinkingLevel, Usage } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { Provider } from "../providers/provider.ts";
import { AppError } from "../util/error.ts";
import { oneLine } from "../util/truncate.ts";
import { emptyAnswer, foldStream } from "./fold-stream.ts";
import { repairHistory } from "./repair-history.ts";
import { pause, retryDelay } from "./retry.ts";
import instructions from "./summary.md" with { type: "text" };
import { textOf } from "./text.ts";

/** What a summary's requests need of the run they belong to. */
export interface Summarizer {
  readonly provider: Provider;
  readonly model: Model;
  readonly maxRetries: number;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly signal: AbortSignal;
  readonly notify?: ((text: string) => void) | undefined;
}

export interface SummaryTask {
  readonly messages: readonly Message[];
  /** The summary of what came before `messages`. */
  readonly earlier: string | undefined;
  /** What the user wants of this summary. */
  readonly wishes: string | undefined;
  readonly limits: Limits;
  /** Told what each request has cost, whatever came of it. */
  readonly onUsage: (usage: Usage) => void;
}

/** Most pieces of one summary; of a longer conversation the oldest part is left out. */
const maxPieces = 12;
/** How often the pieces are halved because the provider calls them too large. */
const maxHalvings = 3;
const leftOut = "[The oldest part of the conversation is left out here.]";

/** The summary; never empty. Throws `AppError` when the model cannot be asked, or gives no text twice. */
export async function summarize(by: Summarizer, task: SummaryTask): Promise<string> {
  const { limits } = task;
  let budget = limits.summaryInput;
  let parts = toTranscript(task.messages, budget);
  let notes = task.earlier;
  let halvings = 0;
  let isRefused = parts.length > 0;
  // The notes take their share of every piece.
  const most = partsFromTheEnd(parts, maxPieces * (budget - limits.summary));
  if (most < parts.length) parts = [leftOut, ...parts.slice(-most)];
  while (parts.length > 0) {
    const shown = notes === undefined ? undefined : shorten(notes, budget * 2);
    const room = Math.max(budget - estimateText(shown ?? ""), Math.floor(budget / 4));
    const count = partsThatFit(parts, room);
    const piece = shorten(parts.slice(0, count).join("\n\n"), room * 4);
    try {
      notes = await ask(by, task, request(piece, shown, task.wishes, count < parts.length));
      parts = parts.slice(count);
      isRefused = false;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "context_overflow") throw error;
      if (halvings++ < maxHalvings) budget = Math.floor(budget / 2);
      else parts = parts.slice(count);
    }
  }
  if (notes !== undefined && !isRefused) return notes;
  const refused = outline(task.messages, limits.summary * 2);
  return notes === undefined ? `The conversation ${refused}` : `${notes}\n\nWhat followed ${refused}`;
}

/** How many of the last parts have about `tokens` in all. */
function partsFromTheEnd(parts: readonly string[], tokens: number): number {
  return partsThatFit(parts.toReversed(), tokens);
}

function request(piece: string, notes: string | undefined, wishes: string | undefined, goesOn: boolean): string {
  return [
    notes === undefined ? "" : `Your notes of what came before:\n\n<notes>\n${notes}\n</notes>`,
    `${notes === undefined ? "The conversation" : "What followed"}:\n\n<conversation>\n${piece}\n</conversation>`,
    goesOn ? "The conversation goes on behind this piece; you will be shown the rest with your notes." : "",
    wishes === undefined ? "" : `The user asks of the notes: ${wishes}`,
    notes === undefined
      ? "Write the notes now."
      : "Write the notes anew so that they cover both: keep what still counts, correct what has changed, drop what is over.",
  ]
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}

/** One request, repeated for failures that pass, and once for an answer without text. */
async function ask(by: Summarizer, { limits, onUsage }: SummaryTask, text: string): Promise<string> {
  const { provider, model, signal } = by;
  let isEmpty = false;
  for (let attempt = 1; ; ) {
    const message = { ...emptyAnswer(by), timestamp: Date.now() };
    const chunks = provider.stream(
      {
        model,
        system: instructions.trim(),
        messages: repairHistory([{ role: "user", content: text, timestamp: message.timestamp }]),
        tools: [],
        maxTokens: limits.summary,
        // A level that was chosen for the work would spend the summary's tokens on thoughts.
        thinkingLevel: by.thinkingLevel === "off" ? "off" : undefined,
      },
      signal,
    );
    const { failure } = await foldStream(chunks, message, model.cost, () => {}, by.notify);
    onUsage(message.usage);
    if (!failure) {
      const answer = textOf(message).trim();
      if (answer !== "") return answer;
      if (isEmpty) throw new AppError("empty_answer", "The model gave an empty summary twice");
      isEmpty = true;
      continue;
    }
    const delayMs = retryDelay(failure, attempt, by, Math.random());
    if (delayMs === undefined) throw failure;
    by.notify?.(`${oneLine(failure.message, 300)}; asking for the summary again (${attempt} of ${by.maxRetries})`);
    attempt++;
    await pause(delayMs, signal);
    if (signal.aborted) throw new AppError("aborted", "Request aborted");
  }
}

/** What can be said of messages that not even a piece of can be sent: what the user asked for, the latest last. */
function outline(messages: readonly Message[], longest: number): string {
  const asked = toTranscript(
    messages.filter(({ role }) => role === "user"),
    400,
  );
  const shown = asked.slice(-Math.max(1, Math.floor(longest / 400)));
  return `was too long to be summarized and is left out. What the user said in it:\n\n${shown.join("\n\n") || "(nothing)"}`;
}
