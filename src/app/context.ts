// How full the model's context is, as people are told, and what the session remembers of compactions that failed.
import { isFailedCompaction } from "../agent/room.ts";
import type { Config } from "../config/config.ts";
import { warningShare } from "../context/limits.ts";
import { type Context, measureContext } from "../context/size.ts";
import { pathTo } from "../protocol/tree.ts";
import type { Session } from "../session/session.ts";
import { grouped } from "../util/numbers.ts";

/** How full the context is, as far as that can be told between two requests. */
export interface ContextUsage {
  readonly tokens: number;
  readonly contextWindow: number;
  readonly percent: number;
  /** No provider's count is at the bottom of it. */
  readonly isEstimate: boolean;
}

export function describeContext(context: Context): ContextUsage {
  const { contextWindow } = context.model;
  const { tokens, counted } = measureContext(context);
  return { tokens, contextWindow, percent: (tokens / contextWindow) * 100, isEstimate: !counted };
}

export interface ContextWarning {
  /** Tells the user once each time that the conversation grows past the mark. It is measured only where that may be told. */
  check(measure: () => ContextUsage): void;
  /** For another conversation. */
  reset(): void;
}

export function createContextWarning(
  { autoCompact, quiet }: Pick<Config, "autoCompact" | "quiet">,
  notify: (text: string) => void,
): ContextWarning {
  let warned = false;
  return {
    check(measure) {
      if (quiet) return;
      const { tokens, contextWindow, percent } = measure();
      const isFull = percent >= warningShare * 100;
      if (isFull && !warned) {
        const how = autoCompact ? "it is compacted when it no longer fits" : "/compact makes room";
        const [used, window] = [tokens, contextWindow].map(grouped);
        const share = `${Math.floor(percent)} % of the context (${used} of ${window} tokens)`;
        notify(`The conversation fills ${share}; ${how}`);
      }
      warned = isFull;
    },
    reset() {
      warned = false;
    },
  };
}

/** How many compactions have failed for lasting reasons since the last one that did not. */
export function failedCompactions(session: Session): number {
  const path = pathTo(session.entries(), session.leafId());
  const since = path.slice(path.findLastIndex(({ type }) => type === "compaction") + 1);
  return since.filter(isFailedCompaction).length;
}
