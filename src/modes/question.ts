// How the gate's question looks: all of what would happen, nothing cut, nothing that could fool the eye.
import type { Question } from "../permission/gate.ts";
import { visible, visibleLine } from "../util/sanitize.ts";

export function formatQuestion({ toolName, summary, reason, preview }: Question): string {
  const head = toolName === "bash" ? "Run this command?" : `Allow ${visibleLine(toolName)} ${visibleLine(summary)}?`;
  const body = visible(preview)
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return `${head} (${visible(reason)})\n\n${body}\n`;
}

/** Whether a typed answer means yes: only `y` or `yes` does. */
export function isYes(answer: string): boolean {
  return /^\s*y(es)?\s*$/i.test(answer);
}
