// What happens when a signal aborts: one listener for each signal, however much hangs on it. From the eleventh on, Node warns of a leak.

interface Watch {
  readonly actions: Set<() => void>;
  readonly end: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/** Calls `act` when the signal aborts. Gives the function that takes it back. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (!signal) return () => {};
  const { actions, end } = watches.get(signal) ?? watch(signal);
  actions.add(act);
  return () => {
    if (actions.delete(act) && actions.size === 0) end();
  };
}

function watch(signal: AbortSignal): Watch {
  const actions = new Set<() => void>();
  const act = () => {
    for (const each of actions) each();
  };
  signal.addEventListener("abort", act);
  const end = () => {
    signal.removeEventListener("abort", act);
    watches.delete(signal);
  };
  const made = { actions, end };
  watches.set(signal, made);
  return made;
}
