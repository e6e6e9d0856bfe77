// What a newer agent says that this version has no name for: kept whole instead of dropped, so that it can be shown, stored and passed on.
import * as z from "zod/mini";

const raw = z.record(z.string(), z.unknown());
const unknownType = z.literal("unknown");

/** A record, content block or part of a stream of a type that is not known. `raw` is what came; it is encoded as exactly that. */
export const Unknown = z.object({ type: unknownType, raw });
export type Unknown = z.infer<typeof Unknown>;

/** A message of a role that is not known. */
export const UnknownMessage = z.object({ type: unknownType, role: z.literal("unknown"), raw });
export type UnknownMessage = z.infer<typeof UnknownMessage>;

/** A session's entry of a type that is not known, with its place in the tree. */
export const UnknownEntry = z.object({
  type: unknownType,
  id: z.string(),
  parentId: z.nullable(z.string()),
  timestamp: z.string(),
  raw,
});
export type UnknownEntry = z.infer<typeof UnknownEntry>;

/**
 * A type of the protocol as a client gets it: wherever messages, entries, blocks or other things with a `type` or a `role` stand in it,
 * something unknown may stand instead.
 */
export type Received<Type> = unknown extends Type
  ? Type
  : Type extends readonly (infer Item)[]
    ? OrUnknown<Item>[]
    : Type extends object
      ? { [Key in keyof Type]: OrUnknown<Type[Key]> }
      : Type;

/** The same for the thing itself. */
export type OrUnknown<Type> = Received<Type> | UnknownOf<Type>;

type UnknownOf<Type> = Type extends { role: string }
  ? UnknownMessage
  : Type extends { type: string; parentId: string | null }
    ? UnknownEntry
    : Type extends { type: string }
      ? Unknown
      : never;
