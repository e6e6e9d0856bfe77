// Reading fields of JSON that a provider sent: whatever stands there, a reader gets what it can use, or a TypeError where nothing can be.
import { isObject } from "../util/is-object.ts";

/** What an object of this shape promises at best: each field may be missing or anything else. */
export type Loose<Shape> = { readonly [Name in keyof Shape]?: unknown };

/** A text; anything else counts as absent. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A text, also where it comes as a list of parts such as `{ type: "text", text }`. */
export function joinText(value: unknown): string {
  if (!Array.isArray(value)) return toText(value);
  return toObjects<{ text: string }>(value)
    .map(({ text }) => toText(text))
    .join("");
}

/** A number of tokens, a status or an index; anything else counts as absent. */
export function toNumber(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** An object, or undefined for null and nothing. Throws for anything else. */
export function toObject<Shape>(value: unknown): Loose<Shape> | undefined {
  if (value == null) return undefined;
  if (isObject(value)) return value as Loose<Shape>;
  throw new TypeError("expected an object");
}

/** The objects of a list, without nulls; none for null and nothing. Throws for anything else. */
export function toObjects<Shape>(value: unknown): Loose<Shape>[] {
  if (value == null) return [];
  if (!Array.isArray(value)) throw new TypeError("expected a list");
  for (const item of value) if (!isObject(item)) return value.flatMap((each) => toObject<Shape>(each) ?? []);
  // Nearly always as it is.
  return value;
}
