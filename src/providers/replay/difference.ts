// Where two JSON values first differ, in words. Pure.
import { hidden } from "../../util/redact.ts";
import { oneLine } from "../../util/truncate.ts";

const longestValue = 160;

/**
 * The path of the first difference and both values there, such as `messages[2].content: recorded "a", now "b"`; undefined where there is
 * none. A hidden key is like any text: whoever replays a recording may have another one, or none.
 */
export function findDifference(recorded: unknown, now: unknown): string | undefined {
  return fits(recorded, now) ? undefined : describe(recorded, now, "");
}

function describe(recorded: unknown, now: unknown, path: string): string {
  if (isObject(recorded) && isObject(now)) {
    const keys = [...new Set([...Object.keys(recorded), ...Object.keys(now)])];
    for (const key of keys) {
      const [before, after] = [recorded[key], now[key]];
      const step = Array.isArray(now) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      if (!fits(before, after)) return describe(before, after, step);
    }
  }
  return `${path || "the order of its fields"}: recorded ${show(recorded, now)}, now ${show(now, recorded)}`;
}

function fits(recorded: unknown, now: unknown): boolean {
  if (typeof recorded === "string" && typeof now === "string")
    return fitsText(recorded, now) || fitsText(now, recorded);
  if (!isObject(recorded) || !isObject(now)) return recorded === now;
  if (Array.isArray(recorded) !== Array.isArray(now)) return false;
  const keys = Object.keys(recorded);
  const others = Object.keys(now);
  return keys.length === others.length && keys.every((key, i) => key === others[i] && fits(recorded[key], now[key]));
}

/** Whether `text` is `pattern` with something in the place of each hidden key. */
function fitsText(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split(hidden);
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
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
