// The chunks of one network read. Deltas of one block become one in it: nobody can see more steps than the network made.
import type { Chunk } from "./provider.ts";

type Growing<Kind> = Kind extends unknown ? { -readonly [Name in keyof Kind]: Kind[Name] } : never;

/** What has come of a read so far; its chunks are its own, and grow. */
export type Batch = Growing<Chunk>[];

/** Adds a piece of text, of which an answer mostly consists, without making a chunk of it first. */
export function addText(batch: Batch, delta: string): void {
  const last = batch[batch.length - 1];
  if (last?.type === "text") last.delta += delta;
  else if (delta !== "") batch.push({ type: "text", delta });
}

export function addChunk(batch: Batch, chunk: Chunk): void {
  const last = batch[batch.length - 1];
  if (chunk.type === "text") addText(batch, chunk.delta);
  else if (chunk.type === "thinking" && last?.type === "thinking" && chunk.signature === last.signature)
    last.delta += chunk.delta;
  else if (chunk.type === "toolcall_delta" && last?.type === "toolcall_delta" && chunk.index === last.index)
    last.delta += chunk.delta;
  else batch.push(chunk);
}

/** Whether nothing comes after what is in it. */
export function isComplete(batch: Batch): boolean {
  const last = batch[batch.length - 1];
  return last?.type === "end" || last?.type === "error";
}
