// Waiting for text that a program prints, driven by its arrival; a deadline turns a hang into a failure that shows what was seen.

export type TextPattern = string | RegExp | ((text: string) => boolean);

export interface TextWatch {
  /** Tells that `text` has grown. */
  changed(): void;
  /** Tells that nothing more will come; whoever still waits fails. */
  closed(): void;
  /** The end of the first match of `pattern` at or after `from`; rejects at the deadline. */
  until(pattern: TextPattern, options?: { from?: number; timeoutMs?: number }): Promise<number>;
}

/** Watches the text that `read` gives; `what` names it in failures. */
export function watchText(what: string, read: () => string): TextWatch {
  const waiting = new Set<() => void>();
  let isClosed = false;
  const changed = () => {
    for (const check of [...waiting]) check();
  };
  return {
    changed,
    closed() {
      isClosed = true;
      changed();
    },
    until(pattern, { from = 0, timeoutMs = 10_000 } = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const fail = (why: string) =>
        reject(new Error(`${why} waiting for ${String(pattern)} in ${what}, which holds:\n${read().slice(from)}`));
      const check = () => {
        const end = matchEnd(pattern, read(), from);
        if (end !== undefined) resolve(end);
        else if (isClosed) fail("it ended while");
      };
      const timer = setTimeout(() => fail(`${timeoutMs} ms passed`), timeoutMs);
      waiting.add(check);
      check();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(check);
      });
    },
  };
}

function matchEnd(pattern: TextPattern, text: string, from: number): number | undefined {
  if (typeof pattern === "function") return pattern(text.slice(from)) ? text.length : undefined;
  if (typeof pattern === "string") {
    const at = text.indexOf(pattern, from);
    return at < 0 ? undefined : at + pattern.length;
  }
  const match = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")).exec(text.slice(from));
  return match ? from + match.index + match[0].length : undefined;
}
