// How a session looks in a list: one line that a terminal can show.
import { visibleLine } from "../util/sanitize.ts";
import { oneLine } from "../util/truncate.ts";
import type { SessionSummary } from "./list.ts";

/** What a session is called: its name, or what the user said first. */
export function titleOf({ name, firstText }: Pick<SessionSummary, "name" | "firstText">, limit = 60): string {
  return visibleLine(oneLine(name ?? firstText ?? "(nothing said yet)", limit));
}

/** `2026-11-30 15:11  the parser`, in local time. */
export function rowOf(summary: Pick<SessionSummary, "name" | "firstText" | "modified">, limit?: number): string {
  return `${timeOf(summary.modified)}  ${titleOf(summary, limit)}`;
}

export function timeOf(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
