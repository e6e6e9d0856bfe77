// One tool call, from the model's words to a result message: find → validate → gate → run → truncate.
import type { Gate, Refuser } from "../permission/gate.ts";
import type { AgentEvent, ToolResult } from "../protocol/event.ts";
import type { ToolCall, ToolResultMessage } from "../protocol/message.ts";
import type { DeniedCall } from "../protocol/outcome.ts";
import { type ToolContext, ToolError, type ToolInvocation, type ToolOutput, type ToolSet } from "../tools/tool.ts";
import { now } from "../util/clock.ts";
import { AppError, abortError, abortedBy } from "../util/error.ts";
import { resolvePath } from "../util/paths.ts";
import { truncate } from "../util/truncate.ts";
import { cleanText } from "./repair-history.ts";

export interface ToolEnvironment
  extends Pick<ToolContext, "cwd" | "env" | "maxOutput" | "files" | "acceptsImages" | "deniesPath" | "sandbox"> {
  readonly tools: ToolSet;
  readonly gate: Gate;
  /** Where a path of the model's really leads; rejects with a `ToolError` when that cannot be told. */
  readonly realPath: (path: string, verb: "read" | "write") => Promise<string>;
  /** Told of failures that are bugs of ours. */
  readonly onBug: (error: unknown) => void;
}

export interface ToolOutcome {
  readonly message: ToolResultMessage;
  /** Set when the gate refused it. */
  readonly denied?: DeniedCall;
  /** The machine cannot go on, such as when there is no shell to start. */
  readonly fatal?: AppError;
}

/** Runs one call and reports it; never throws: whatever happens becomes the call's one result. */
export async function executeTool(
  call: ToolCall,
  environment: ToolEnvironment,
  signal: AbortSignal,
  emit: (event: AgentEvent) => void,
): Promise<ToolOutcome> {
  const identity = { toolCallId: call.id, toolName: call.name };
  emit({ type: "tool_execution_start", ...identity, args: call.arguments });
  const started = now();
  const onUpdate = (partialResult: ToolResult) =>
    emit({ type: "tool_execution_update", ...identity, args: call.arguments, partialResult });
  const attempt = await attemptCall(call, environment, signal, onUpdate);
  const durationMs = Math.round(now() - started);
  const whole = cleanText(attempt.output.text);
  const text = attempt.output.bounded ? whole : truncate(whole, environment.maxOutput);
  const isError = attempt.output.isError ?? false;
  const { structuredContent } = attempt.output;
  const details = attempt.deniedBy ? { denied: true, by: attempt.deniedBy } : attempt.output.details;
  const content = [{ type: "text" as const, text }, ...(attempt.output.images ?? [])];
  const result: ToolResult = {
    content,
    ...(details === undefined ? {} : { details }),
    ...(structuredContent === undefined ? {} : { structuredContent }),
  };
  emit({ type: "tool_execution_end", ...identity, result, isError, durationMs });
  return {
    message: {
      role: "toolResult",
      ...identity,
      content,
      isError,
      ...(details === undefined ? {} : { details }),
      durationMs,
      timestamp: Date.now(),
    },
    ...(attempt.denied ? { denied: attempt.denied } : {}),
    ...(attempt.fatal ? { fatal: attempt.fatal } : {}),
  };
}

interface Attempt {
  readonly output: ToolOutput;
  readonly denied?: DeniedCall;
  readonly deniedBy?: Refuser;
  readonly fatal?: AppError;
}

async function attemptCall(
  call: ToolCall,
  environment: ToolEnvironment,
  signal: AbortSignal,
  onUpdate: ToolContext["onUpdate"],
): Promise<Attempt> {
  try {
    if (signal.aborted) return failed(`not run: ${abortError(signal)?.message ?? "the user interrupted"}`);
    if (call.argumentsError !== undefined) return failed(call.argumentsError);
    const tool = await environment.tools.load(call.name);
    if (!tool) return failed(`unknown tool '${call.name}'`);
    const invocation = tool.prepare(call.arguments);
    const verb = tool.access === "read" ? "read" : "write";
    const realPathsNow = () => Promise.all(invocation.paths.map((path) => environment.realPath(path, verb)));
    const realPaths = await realPathsNow();
    let shown: string | undefined;
    const verdict = await environment.gate.check(
      {
        toolName: tool.name,
        access: tool.access,
        args: call.arguments,
        summary: invocation.summary,
        paths: invocation.paths.map((path) => resolvePath(environment.cwd, path)),
        realPaths,
        async preview() {
          shown = await previewOf(invocation, environment);
          return shown;
        },
      },
      signal,
    );
    if (!verdict.allowed) {
      const { reason } = verdict;
      const denied = { toolCallId: call.id, toolName: tool.name, summary: invocation.summary, reason };
      return { ...failed(reason), denied, deniedBy: verdict.by };
    }
    if (shown !== undefined) {
      // Whoever answered may have taken long.
      const isSamePlace = (await realPathsNow()).every((path, index) => path === realPaths[index]);
      if (!isSamePlace || (await previewOf(invocation, environment)) !== shown) return failed(changedWhileAsked);
    }
    const isJudged = (path: string) => realPaths.includes(path);
    return { output: await invocation.run({ ...environment, signal, onUpdate, isJudged }) };
  } catch (error) {
    if (error instanceof ToolError) return failed(error.message);
    if (signal.aborted) return failed(abortedBy(signal));
    if (error instanceof AppError) return { ...failed(error.message), fatal: error };
    environment.onBug(error);
    return failed(`the tool failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const changedWhileAsked =
  "not done: the files changed on disk while the user was asked, and it would no longer be what was shown; call it again";

/** All that would happen, or why it would fail: as the words for that may tell what is in a file, they wait for the answer too. */
async function previewOf(invocation: ToolInvocation, environment: ToolEnvironment): Promise<string> {
  try {
    return await invocation.preview(environment);
  } catch (error) {
    if (error instanceof ToolError) return `it would fail: ${error.message}`;
    throw error;
  }
}

function failed(message: string): Attempt {
  return { output: { text: `Error: ${message}`, isError: true } };
}
