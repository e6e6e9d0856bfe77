// Compares what a program wrote with what was recorded: the order of the records, and of each its keys and their JSON types. Pure.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export interface Difference {
  /** The record, such as `message_end(assistant)`. */
  readonly record: string;
  /** The key's path in it; undefined when the record itself is missing or more than was recorded. */
  readonly key: string | undefined;
  /** JSON types, or "absent". */
  readonly expected: string;
  readonly actual: string;
}

export interface Comparison {
  /** Records of either side, and those that both have, in one order. */
  readonly records: number;
  readonly matchingRecords: number;
  /** Keys of either side in the records that both have, and those with one type in both. */
  readonly keys: number;
  readonly matchingKeys: number;
  readonly differences: readonly Difference[];
}

interface Labelled {
  readonly label: string;
  readonly record: JsonObject;
}

/** `expected` may hold placeholders: texts such as `<text>` for what the recording leaves out. */
export function compareRecords(expected: readonly JsonObject[], actual: readonly JsonObject[]): Comparison {
  const [wanted, got] = [fold(expected), fold(actual)];
  const pairs = align(wanted, got);
  const differences: Difference[] = [];
  const missing = wanted.filter((item) => !pairs.some(([one]) => one === item));
  const extra = got.filter((item) => !pairs.some(([, other]) => other === item));
  for (const { label } of missing)
    differences.push({ record: label, key: undefined, expected: "record", actual: "absent" });
  for (const { label } of extra)
    differences.push({ record: label, key: undefined, expected: "absent", actual: "record" });
  let keys = 0;
  let matchingKeys = 0;
  for (const [one, other] of pairs) {
    for (const { key, expected, actual } of compareKeys(one.record, other.record)) {
      keys++;
      if (isSameType(expected, actual)) matchingKeys++;
      else differences.push({ record: one.label, key, expected, actual });
    }
  }
  const records = wanted.length + extra.length;
  return { records, matchingRecords: pairs.length, keys, matchingKeys, differences };
}

/** What one line of a list is: its type, and what tells lines of one type apart. */
function labelOf(record: JsonObject): string {
  const step = record.assistantMessageEvent as JsonObject | undefined;
  const message = record.message as JsonObject | undefined;
  const detail = record.command ?? step?.type ?? message?.role;
  return typeof detail === "string" ? `${record.type}(${detail})` : String(record.type);
}

/**
 * Repeated deltas count once. Updates of a tool and of a command come at moments of their own: the first stands behind the record that it
 * belongs to, and the others are left out.
 */
function fold(records: readonly JsonObject[]): Labelled[] {
  const folded: Labelled[] = [];
  const updated = new Set<Json | undefined>();
  for (const record of records) {
    const label = labelOf(record);
    if (label === "tool_execution_update") {
      if (updated.has(record.toolCallId)) continue;
      updated.add(record.toolCallId);
      const start = folded.findLastIndex((item) => item.label === "tool_execution_start");
      folded.splice(start + 1, 0, { label, record });
    } else if (label === folded.at(-1)?.label && /_update\b/.test(label) && label !== "queue_update") continue;
    else {
      if (label === "tool_execution_end") updated.delete(record.toolCallId);
      folded.push({ label, record });
    }
  }
  return folded;
}

/** The longest common subsequence, by label. */
function align(wanted: readonly Labelled[], got: readonly Labelled[]): [Labelled, Labelled][] {
  const rows = wanted.length + 1;
  const columns = got.length + 1;
  const lengths = Array.from({ length: rows }, () => new Uint16Array(columns));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = wanted.length - 1; i >= 0; i--) {
    for (let j = got.length - 1; j >= 0; j--) {
      const length = wanted[i]?.label === got[j]?.label ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
      (lengths[i] as Uint16Array)[j] = length;
    }
  }
  const pairs: [Labelled, Labelled][] = [];
  for (let i = 0, j = 0; i < wanted.length && j < got.length; ) {
    const [one, other] = [wanted[i] as Labelled, got[j] as Labelled];
    if (one.label === other.label) {
      pairs.push([one, other]);
      i++;
      j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

type KeyTypes = Omit<Difference, "record" | "key"> & { readonly key: string };

/** Every key below, with its type on both sides. */
function compareKeys(expected: Json, actual: Json, path = ""): KeyTypes[] {
  if (Array.isArray(expected) && Array.isArray(actual)) return compareItems(expected, actual, path);
  if (!isObject(expected) || !isObject(actual)) return [];
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((name) => {
    const key = path === "" ? name : `${path}.${name}`;
    const [one, other] = [expected[name], actual[name]];
    const here = { key, expected: typeOf(one), actual: typeOf(other) };
    return one === undefined || other === undefined ? [here] : [here, ...compareKeys(one, other, key)];
  });
}

/** Items of one kind in their order; a kind that only one side has is one difference. */
function compareItems(expected: readonly Json[], actual: readonly Json[], path: string): KeyTypes[] {
  const [wanted, got] = [Map.groupBy(expected, kindOf), Map.groupBy(actual, kindOf)];
  return [...new Set([...wanted.keys(), ...got.keys()])].flatMap((kind) => {
    const key = `${path}[${kind}]`;
    const [ones, others] = [wanted.get(kind) ?? [], got.get(kind) ?? []];
    const here = { key, expected: typeOf(ones[0]), actual: typeOf(others[0]) };
    const inner = ones.flatMap((one, i) => {
      const other = others[i];
      return other === undefined ? [] : compareKeys(one, other, key);
    });
    return [here, ...inner];
  });
}

function kindOf(item: Json): string {
  if (!isObject(item)) return "";
  if (isObject(item.entry)) return kindOf(item.entry);
  if (isObject(item.message)) return `${item.type}:${item.message.role}`;
  const kind = item.type ?? item.role;
  return typeof kind === "string" ? kind : "";
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(value: Json | undefined): string {
  if (value === undefined) return "absent";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value === "<json schema>") return "object";
  if (value === "<other>") return "anything";
  return typeof value;
}

function isSameType(expected: string, actual: string): boolean {
  return expected === actual || (expected === "anything" && actual !== "absent");
}

/** The texts that stand at the same place in two answers and differ: ids and paths, each with what it is in the other. */
export function substitutions(expected: Json | undefined, actual: Json | undefined): [string, string][] {
  if (typeof expected === "string" && typeof actual === "string")
    return expected === actual ? [] : [[expected, actual]];
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return expected.flatMap((item, i) => substitutions(item, actual[i]));
  }
  if (!isObject(expected) || !isObject(actual as Json)) return [];
  return Object.keys(expected).flatMap((key) => substitutions(expected[key], (actual as JsonObject)[key]));
}
