// Compaction: the older part of a conversation gives way to a summary of it. The conversation stays as it is until the entry is stored.
import { findCut, isUserInput, keepAfterOverflow } from "../context/cut.ts";
import { estimateOverhead, estimateTokens } from "../context/estimate.ts";
import { contextLimits } from "../context/limits.ts";
import { measureContext } from "../context/size.ts";
import { type TouchedFiles, touchedFiles } from "../context/touched-files.ts";
import { shorten, textOf } from "../context/transcript.ts";
import type { Entry, EntryDraft } from "../protocol/entry.ts";
import type { AgentEvent, CompactionReason, CompactionResult } from "../protocol/event.ts";
import type { Message, SystemMessage, Usage } from "../protocol/message.ts";
import { addUsage, emptyUsage } from "../protocol/usage.ts";
import { AppError, toAppError } from "../util/error.ts";
import { failedCompaction } from "./room.ts";
import { type Summarizer, summarize } from "./summarize.ts";
import { promptText } from "./text.ts";

/** The conversation and the session it is stored in. */
export interface CompactionStore {
  messages(): readonly Message[];
  /** The entry that a message comes from. */
  entryOf(message: Message): Entry | undefined;
  /** Stores an entry; it is on disk when this returns. */
  append(draft: EntryDraft): Entry;
  /** Builds the messages anew from the session. */
  reload(): void;
}

export interface CompactionInput extends Summarizer {
  readonly store: CompactionStore;
  /** The prompt in force, which the entry repeats. */
  readonly system: SystemMessage;
  readonly maxTokens: number;
  readonly reason: CompactionReason;
  /** What the user wants of the summary. */
  readonly wishes?: string | undefined;
  readonly emit: (event: AgentEvent) => void;
}

export type CompactionOutcome =
  | { readonly result: CompactionResult; readonly error?: undefined }
  | { readonly error: AppError; readonly result?: undefined };

/** Marks the place of a compaction that keeps nothing. */
const nothingKept = "nothing_kept";
const requestTitle = "## The user's latest message";
/** Most paths of each kind that a summary names. */
const maxPaths = 100;

const nothingToCompact = "Nothing to compact (session too small)";

/** From `compaction_start` to `compaction_end`; never rejects for what a provider or the disk does. */
export async function compact(input: CompactionInput): Promise<CompactionOutcome> {
  const { reason, emit } = input;
  let spent = emptyUsage();
  emit({ type: "compaction_start", reason });
  try {
    const result = await replaceOldPart(input, (usage) => {
      spent = addUsage(spent, usage);
      return spent;
    });
    emit({ type: "compaction_end", reason, result, aborted: false, willRetry: reason === "overflow" });
    return { result };
  } catch (thrown) {
    const error = toAppError(thrown);
    const aborted = error.code === "aborted";
    if (error.message !== nothingToCompact) record(input, error, spent);
    const errorMessage = aborted ? {} : { errorMessage: `Compaction failed: ${error.message}` };
    emit({ type: "compaction_end", reason, aborted, willRetry: false, ...errorMessage });
    return { error };
  }
}

async function replaceOldPart(input: CompactionInput, spend: (usage: Usage) => Usage): Promise<CompactionResult> {
  const { store, model, reason } = input;
  const messages = [...store.messages()];
  const system = promptText(input.system);
  const tools = input.system.toolsAdded ?? [];
  const limits = contextLimits(model.contextWindow, input.maxTokens);
  const size = measureContext({ model, system, tools, messages });
  const cut = findCut(messages, reason === "overflow" ? keepAfterOverflow(messages, limits.keep) : limits.keep);
  if (!cut) throw new AppError("usage", nothingToCompact);

  const old = messages.slice(cut.from, cut.to);
  const summaryBefore = messages[cut.from - 1];
  const earlier = summaryBefore?.role === "compactionSummary" ? summaryBefore : undefined;
  const entryBefore = earlier && store.entryOf(earlier);
  const before = entryBefore?.type === "compaction" ? entryBefore.details : undefined;
  const files = touchedFiles(old, before);
  const request = unfinishedRequest(old, messages.slice(cut.to), before, limits.summary * 2);
  let usage = emptyUsage();
  const text = await summarize(input, {
    messages: old,
    earlier: earlier && notesOf(earlier.summary, before, request),
    wishes: input.wishes,
    limits,
    onUsage: (used) => {
      usage = spend(used);
    },
  });

  const details = request === undefined ? files : { ...files, request };
  const summary = [text, ...addenda(files, request)].join("\n\n");
  const kept = messages[cut.to];
  const firstKept = kept ? store.entryOf(kept) : store.append({ type: "custom", customType: nothingKept });
  if (!firstKept) throw new AppError("internal", "A message of the conversation has no entry");
  store.append({
    type: "compaction",
    summary,
    firstKeptEntryId: firstKept.id,
    tokensBefore: size.tokens,
    details,
    usage,
    fromHook: false,
    systemMessage: { ...input.system, timestamp: Date.now() },
  });
  store.reload();
  return {
    summary,
    firstKeptEntryId: firstKept.id,
    tokensBefore: size.tokens,
    estimatedTokensAfter: estimateOverhead(system, tools) + estimateTokens(store.messages()),
    usage,
    details,
  };
}

/** The failure goes into the session, and so does what it has cost; a disk that takes neither changes nothing. */
function record({ store, reason, provider, model }: CompactionInput, error: AppError, spent: Usage): void {
  try {
    if (spent.totalTokens > 0)
      store.append({ type: "usage", kind: "compaction", provider: provider.name, model: model.id, usage: spent });
    if (error.code === "aborted") return;
    const { code, message, retryable } = error;
    store.append({ type: "custom", customType: failedCompaction, data: { reason, code, message, retryable } });
  } catch {
    // The error that is told is the first one.
  }
}

/**
 * The words of the user's that are still worked on, where their message is not kept: that of the summarized part, or what an earlier
 * compaction (by its entry's details) had noted when it came to the same.
 */
function unfinishedRequest(
  old: readonly Message[],
  kept: readonly Message[],
  before: unknown,
  longest: number,
): string | undefined {
  if (kept.some(isUserInput)) return undefined;
  const message = old.findLast(isUserInput);
  if (message?.role === "user") return shorten(textOf(message.content), longest);
  return requestOf(before);
}

function requestOf(details: unknown): string | undefined {
  const { request } = (details ?? {}) as { request?: unknown };
  return typeof request === "string" ? request : undefined;
}

/** An earlier summary without what was added to it and is added again, so that the notes do not take it over and say it twice. */
function notesOf(summary: string, before: unknown, request: string | undefined): string {
  const addedAgain = requestOf(before) === request ? request : undefined;
  const end = ["", ...addenda(touchedFiles([], before), addedAgain)].join("\n\n");
  return summary.endsWith(end) ? summary.slice(0, summary.length - end.length) : summary;
}

/** What stands behind the notes word for word. */
function addenda({ readFiles, modifiedFiles }: TouchedFiles, request: string | undefined): string[] {
  const asked = request === undefined ? "" : `${requestTitle}\n\n${request}`;
  const sections = [asked, listPaths("Files read", readFiles), listPaths("Files modified", modifiedFiles)];
  return sections.filter((section) => section !== "");
}

function listPaths(title: string, paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const rest = paths.length > maxPaths ? [`- and ${paths.length - maxPaths} more`] : [];
  return [`## ${title}`, "", ...paths.slice(0, maxPaths).map((path) => `- ${path}`), ...rest].join("\n");
}
