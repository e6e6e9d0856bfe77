// Walking through earlier inputs with the arrow keys. What was typed or changed on the way is still there on the way back.

export interface Recall {
  /** The input before the one shown; nothing at the oldest. `current` is the text shown now. */
  older(current: string): string | undefined;
  newer(current: string): string | undefined;
}

export function createRecall(history: readonly string[]): Recall {
  const changed = new Map<number, string>();
  let at = history.length;

  function go(to: number, current: string): string | undefined {
    if (to < 0 || to > history.length) return undefined;
    changed.set(at, current);
    at = to;
    return changed.get(at) ?? history[at] ?? "";
  }

  return {
    older: (current) => go(at - 1, current),
    newer: (current) => go(at + 1, current),
  };
}
