// Who gets the keys: the line that is being read, or, while nothing is, a queue for the next one.
import { edits, insert, kills, lineOf } from "./edit-line.ts";
import { createKeyDecoder, type Key } from "./keys.ts";

export interface Keyboard {
  feed(text: string): void;
  /** Sends every key to `handler` from now on, until the result is called. */
  focus(handler: (key: Key) => void): () => void;
  /** Sends what was pressed while nobody had the focus, as long as somebody has it now. */
  replay(): void;
  /** What waits, as far as it is text: the inputs that Enter has ended, and the beginning of another. */
  waiting(): string[];
  /** Makes what waits harmless: text stays, with Enter as a line break, and no key can send it or leave. Whether anything waits. */
  defuse(): boolean;
}

/** How long a lone Escape may wait for the rest of a sequence. */
const escapeMs = 50;
const interrupts = new Set(["ctrl-c", "escape"]);

export interface KeyboardOptions {
  /** Hears Ctrl-C and Escape while nobody has the focus. */
  onInterrupt(): void;
  /** Hears every Ctrl-Z. */
  onStop(): void;
  /** Hears that more waits. */
  onType(): void;
}

export function createKeyboard({ onInterrupt, onStop, onType }: KeyboardOptions): Keyboard {
  const decoder = createKeyDecoder();
  let typed: Key[] = [];
  let target: ((key: Key) => void) | undefined;
  let escapeTimer: ReturnType<typeof setTimeout> | undefined;

  function dispatch(key: Key): void {
    if (key.type === "press" && key.name === "ctrl-z") onStop();
    else if (target) target(key);
    else if (key.type === "press" && interrupts.has(key.name)) onInterrupt();
    else {
      typed.push(key);
      onType();
    }
  }

  return {
    feed(text) {
      clearTimeout(escapeTimer);
      for (const key of decoder.feed(text)) dispatch(key);
      if (decoder.pending()) escapeTimer = setTimeout(() => decoder.drop().forEach(dispatch), escapeMs).unref();
    },
    focus(handler) {
      target = handler;
      return () => {
        if (target === handler) target = undefined;
      };
    },
    replay() {
      while (target) {
        const key = typed.shift();
        if (!key) return;
        target(key);
      }
    },
    waiting() {
      const ended: string[] = [];
      let line = lineOf("");
      for (const key of typed) {
        if (key.type !== "press") line = insert(line, key.text);
        else if (key.name !== "enter") line = (edits[key.name] ?? kills[key.name])?.(line) ?? line;
        else {
          ended.push(line.text);
          line = lineOf("");
        }
      }
      return [...ended, line.text];
    },
    defuse() {
      typed = typed.flatMap((key): Key[] => {
        if (key.type !== "press") return [key];
        if (key.name === "enter") return [{ type: "press", name: "alt-enter" }];
        return key.name === "ctrl-d" ? [] : [key];
      });
      return typed.length > 0;
    },
  };
}
