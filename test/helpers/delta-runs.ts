// Chunks compared by what they say: how a text falls into deltas depends on how the network cut it.
import type { Chunk } from "../../src/providers/provider.ts";

/** The same chunks, however many deltas in a row they tell a text or a call's arguments in. */
export function inRuns(chunks: readonly Chunk[]): Chunk[] {
  const runs: Chunk[] = [];
  for (const chunk of chunks) {
    const last = runs.at(-1);
    const goesOn =
      last && "delta" in last && "delta" in chunk && Bun.deepEquals({ ...last, delta: "" }, { ...chunk, delta: "" });
    if (goesOn) runs[runs.length - 1] = { ...last, delta: last.delta + chunk.delta };
    else runs.push(chunk);
  }
  return runs;
}
