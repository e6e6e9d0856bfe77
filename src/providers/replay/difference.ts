// Where two JSON values first differ, in words. Pure.
import { oneLine } from "../../util/truncate.ts";

const longestValue = 160;

/** The path of the first difference and both values there, such as `messages[2].content: recorded "a", now "b"`. */
export function describeDifference(recorded: unknown, now: unknown, path = ""): string {
  if (isObject(recorded) && isObject(now)) {
    const keys = [...new Set([...Object.keys(recorded), ...Object.keys(now)])];
    for (const key of keys) {
      const [before, after] = [recorded[key], now[key]];
      const step = Array.isArray(now) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      if (JSON.stringify(before) !== JSON.stringify(after)) return describeDifference(before, after, step);
    }
  }
  return `${path || "the order of its fields"}: recorded ${show(recorded, now)}, now ${show(now, recorded)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** A value, or the part of a long text around the place where it differs from the other one. */
function show(value: unknown, other: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "string" || typeof other !== "string") return oneLine(JSON.stringify(value), longestValue);
  let same = 0;
  while (same < value.length && value[same] === other[same]) same++;
  const start = Math.max(0, same - longestValue / 4);
  return `${start > 0 ? "…" : ""}${oneLine(JSON.stringify(value.slice(start)), longestValue)}`;
}
