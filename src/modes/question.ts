// How the gate's question looks: all of what would happen, nothing cut, nothing that could fool the eye; and what a typed answer means.
import type { Answer, Question } from "../permission/gate.ts";
import { visible, visibleLine } from "../util/sanitize.ts";
import { layOut } from "./layout.ts";
import type { Style } from "./style.ts";

/** Stands before the cursor while a question waits. */
export const answerLabel = "[y/N/a or why not] ";

/**
 * The question, its first line bold and a diff in colour; ends with an empty line. What is longer than a row of `columns` goes on indented:
 * nothing that is quoted can stand where our own lines do.
 */
export function formatQuestion(question: Question, style: Style, columns: number): string {
  const { toolName, summary, reason, preview, exactly } = question;
  const isDiff = toolName === "edit" || toolName === "write";
  const head = toolName === "bash" ? "Run this command?" : `Allow ${visibleLine(toolName)} ${visibleLine(summary)}?`;
  const body = isDiff ? quotedDiff(preview, columns, style) : quotedLines(preview, columns);
  const answers = `y = once, a = ${visibleLine(exactly)} until the end of the session, anything else = no, and the model is told`;
  return [
    style.bold(wrapOwn(`${head} (${visibleLine(reason)})`, columns)),
    "",
    ...body,
    "",
    style.dim(wrapOwn(answers, columns)),
    "",
  ].join("\n");
}

const indent = "    ";

/** Untrusted text as it is quoted in a question: whole, safe to show, and every row of it indented; one entry a line. */
export function quotedLines(text: string, columns: number): string[] {
  return visible(text.trimEnd())
    .split("\n")
    .map((line) => foldLine(line, columns));
}

/** A diff as it is quoted, in its colours. */
export function quotedDiff(text: string, columns: number, style: Style): string[] {
  return quotedLines(text, columns).map((line) => paintDiff(line, style));
}

/** A line of ours, which names what others chose. */
function wrapOwn(line: string, columns: number): string {
  const rows = Bun.wrapAnsi(line, rowWidth(columns), { hard: true, trim: false });
  return rows.replace(/\n ?/g, `\n${indent}`);
}

/** What fits behind the indent, on whatever narrow terminal. */
function rowWidth(columns: number): number {
  return Math.max(20, columns) - indent.length;
}

/** The line behind the indent, on as many rows as it takes. */
function foldLine(line: string, columns: number): string {
  const width = rowWidth(columns);
  if (line.length <= width && isAscii(line)) return indent + line;
  const { rows } = layOut(line, width);
  // A full last row has room made behind it for a cursor.
  const filled = rows.length > 1 && rows.at(-1) === "" ? rows.slice(0, -1) : rows;
  return filled.map((row) => indent + row).join("\n");
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function paintDiff(line: string, style: Style): string {
  if (/^ {4}\+/.test(line)) return style.green(line);
  if (/^ {4}-/.test(line)) return style.red(line);
  return /^ {4}@@/.test(line) ? style.cyan(line) : line;
}

/** Only `y`, `yes`, `a` and `always` are a yes; what says more than `n` or `no` is a reason for the model. */
export function parseAnswer(text: string): Answer {
  const answer = text.trim();
  if (/^y(es)?$/i.test(answer)) return { choice: "once" };
  if (/^a(lways)?$/i.test(answer)) return { choice: "session" };
  return answer === "" || /^no?$/i.test(answer) ? { choice: "no" } : { choice: "no", reason: answer };
}
