// How the gate's question looks: all of what would happen, nothing cut, nothing that could fool the eye; and what a typed answer means.
import type { Answer, Question } from "../permission/gate.ts";
import { visible, visibleLine } from "../util/sanitize.ts";
import type { Style } from "./repl/style.ts";

/** Stands before the cursor while a question waits. */
export const answerLabel = "[y/N/a or why not] ";

/** The question, its first line bold and a diff in colour; ends with an empty line. */
export function formatQuestion(question: Question, style: Style): string {
  const { toolName, summary, reason, preview, exactly } = question;
  const isDiff = toolName === "edit" || toolName === "write";
  const head = toolName === "bash" ? "Run this command?" : `Allow ${visibleLine(toolName)} ${visibleLine(summary)}?`;
  const body = visible(preview.trimEnd()).split("\n");
  return [
    style.bold(`${head} (${visibleLine(reason)})`),
    "",
    ...body.map((line) => (isDiff ? paintDiff(`    ${line}`, style) : `    ${line}`)),
    "",
    style.dim(
      `y = once, a = ${visibleLine(exactly)} until the end of the session, anything else = no, and the model is told`,
    ),
    "",
  ].join("\n");
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
