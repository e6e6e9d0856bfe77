// One-shot mode: stdout gets the answer and nothing else, stderr what happens on the way, the exit code the truth.
import type { App } from "../app/app.ts";
import type { Refuser } from "../permission/gate.ts";
import type { AgentEvent, ToolResult } from "../protocol/event.ts";
import { describeDuration } from "../util/duration.ts";
import { createVisible, visible, visibleJson, visibleLine } from "../util/sanitize.ts";
import { oneLine } from "../util/truncate.ts";
import type { Io } from "./io.ts";
import { judge, type OneShot, promptOnce, toRunResult } from "./one-shot.ts";
import { reportOutcome } from "./outcome.ts";
import { describeCall, describeCompaction, describeExit, describeFallback, describeSession } from "./show.ts";
import { watchSignals } from "./signals.ts";

/** A tool that took longer than this has its time told. */
const slowToolMs = 5000;

/**
 * Runs the task and gives the exit code. A terminal sees the answer as it is written; a pipe or file gets the final answer
 * once it is whole, so that nothing half-done is ever taken for it, and so does everybody when it is to be valid JSON.
 */
export async function runPrint(app: App, { task, answersJson = false, settle }: OneShot, io: Io): Promise<number> {
  const live = io.isTerminal(1) && !answersJson;
  const { quiet } = app.config;
  const signals = watchSignals(io, () => app.abort());
  const visiblePiece = createVisible();
  let atLineStart = true;

  function writeLive(text: string): void {
    if (text === "") return;
    io.stdout(visiblePiece(text));
    atLineStart = text.endsWith("\n");
  }

  function show(event: AgentEvent): void {
    if (event.type === "message_update") {
      if (!live) return;
      const step = event.assistantMessageEvent;
      if (step.type === "text_delta") writeLive(step.delta);
      else if (step.type === "text_end" && !atLineStart) writeLive("\n");
    } else if (quiet) return;
    else if (event.type === "auto_retry_start") {
      const { attempt, maxAttempts, delayMs, errorMessage } = event;
      io.stderr(`${visible(oneLine(errorMessage, 300))}\n`);
      io.stderr(`  trying again in ${describeDuration(delayMs)} (${attempt} of ${maxAttempts})\n`);
    } else if (event.type === "model_fallback") io.stderr(`${visible(describeFallback(event))}\n`);
    else if (event.type === "compaction_start") io.stderr("compacting the conversation\n");
    else if (event.type === "compaction_end") {
      const text = describeCompaction(event);
      if (text !== undefined) io.stderr(`  ${visible(text)}\n`);
    } else if (event.type === "tool_execution_start") io.stderr(`→ ${describeCall(event.toolName, event.args)}\n`);
    else if (event.type === "tool_execution_end") {
      const first = event.result.content.find((block) => block.type === "text")?.text.split("\n", 1)[0] ?? "";
      const outcome = describeExit(event.result) ?? first;
      // A no for want of somebody to ask has been told, with what would allow the call, when it was given.
      if (isUnasked(event.result)) return;
      if (event.isError) io.stderr(`  ✗ ${visibleLine(outcome).slice(0, 300)}\n`);
      else if ((event.durationMs ?? 0) > slowToolMs) io.stderr(`  ✓ ${describeDuration(event.durationMs ?? 0)}\n`);
    }
  }

  const unsubscribe = app.subscribe(show);
  const outcome = await promptOnce(app, task);
  unsubscribe();
  signals.stop();
  app.close();
  if (!quiet && app.session().stored()) io.stderr(`${describeSession(app)}\n`);

  const { status, text, isCut, error } = outcome;
  const isWhole = status === "done" || error?.code === "denied";
  if (!live && text !== "") {
    const answer = text.endsWith("\n") ? text : `${text}\n`;
    // An answer cut by the output limit is still what the model had to say; anything less goes to stderr.
    if (isWhole || (isCut && !answersJson)) {
      await io.behindStderr();
      io.stdout(io.isTerminal(1) ? visibleJson(answer) : answer);
    } else if (text.trim() !== "") {
      const what = error?.code === "output_schema" ? "The last answer, not valid" : "The answer so far, not complete";
      io.stderr(`${what}:\n${visible(answer)}`);
    }
  }
  await io.flush();
  const verdict = judge(outcome, signals.exitCode());
  settle?.(toRunResult(verdict, app, outcome, answersJson));
  reportOutcome(outcome, verdict);
  return verdict.exitCode;
}

function isUnasked({ details }: ToolResult): boolean {
  return (details as { readonly by?: Refuser } | undefined)?.by === "nobody";
}
