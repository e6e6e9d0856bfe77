// A finished tool call as a person sees it: one line with its outcome and time, and below it a little of what went wrong, or what an edit
// has changed.
import type { ToolResult } from "../../protocol/event.ts";
import { describeDuration } from "../../util/duration.ts";
import { visible, visibleLine } from "../../util/sanitize.ts";
import { cutToWidth } from "../layout.ts";
import { quotedDiff } from "../question.ts";
import { describeCall, describeExit } from "../show.ts";
import type { Style } from "../style.ts";
import { changedLines } from "./changed-lines.ts";

export interface FinishedCall {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result: ToolResult;
  readonly isError: boolean;
  readonly durationMs: number;
  /** Whether a person was asked before, and saw what it would do. */
  readonly wasAsked: boolean;
}

/** How many lines of a failure are shown. */
const maxLines = 5;
const indent = "    ";

/** Whole lines, none wider than `columns`. */
export function formatToolCall(call: FinishedCall, columns: number, style: Style): string {
  const { outcome, details } = call.isError ? describeFailure(call.result) : { outcome: "", details: [] };
  const time = describeDuration(call.durationMs);
  const tail = `${outcome === "" ? "" : `  ${outcome}`}  ${time}`;
  const name = cutToWidth(describeCall(call.toolName, call.args), Math.max(8, columns - 3 - Bun.stringWidth(tail)));
  const mark = call.isError ? style.red("✗") : style.green("✓");
  const head = `${mark} ${name}${outcome === "" ? "" : `  ${style.red(outcome)}`}  ${style.dim(time)}`;
  const below = details.map((line) => style.dim(indent + cutToWidth(line, columns - indent.length - 1)));
  return [head, ...below, ...formatChange(call, columns, style)].map((line) => `${line}\n`).join("");
}

function formatChange({ toolName, args, isError, wasAsked }: FinishedCall, columns: number, style: Style): string[] {
  const lines = toolName === "edit" && !isError && !wasAsked ? changedLines(args) : [];
  return lines.length > 0 ? quotedDiff(lines.join("\n"), columns, style) : [];
}

function resultText(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}

/** A command's exit code and the end of its output; of any other failure its message. */
function describeFailure(result: ToolResult): { outcome: string; details: string[] } {
  const exit = describeExit(result);
  if (exit !== undefined)
    return { outcome: exit, details: shownLines(outputText(result).split("\n")).slice(-maxLines) };
  const [first = "", ...rest] = resultText(result).split("\n");
  const lines = shownLines(rest);
  const message = visibleLine(first.replace(/^Error: /, ""));
  if (message.length <= 40) return { outcome: message, details: lines.slice(-maxLines) };
  return { outcome: "failed", details: [message, ...lines.slice(1 - maxLines)] };
}

/** What the command itself has printed. */
function outputText({ structuredContent }: ToolResult): string {
  const { output } = structuredContent as { output?: unknown };
  return typeof output === "string" ? output : "";
}

function shownLines(lines: readonly string[]): string[] {
  return lines.filter((line) => line.trim() !== "").map(shownLine);
}

/** A progress bar's line is what was drawn last. */
function shownLine(line: string): string {
  const last = line.replace(/\r+$/, "").split("\r").at(-1) ?? "";
  return visible(Bun.stripANSI(last)).replaceAll("\t", "  ");
}
