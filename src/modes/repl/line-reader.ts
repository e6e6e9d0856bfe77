// Reads one input from the keyboard, below everything printed so far: what each key does, and when the input is whole.
import { layOut, stopAt, stopInRow } from "../layout.ts";
import { createEditArea } from "./edit-area.ts";
import { type EditLine, edits, insert, kills, lineOf, removedText } from "./edit-line.ts";
import type { Keyboard } from "./keyboard.ts";
import { createRecall } from "./recall.ts";
import type { Screen } from "./screen.ts";
import type { Terminal } from "./terminal.ts";

/** What was entered; `interrupt` is Ctrl-C, `end` Ctrl-D on an empty line or the terminal's end. */
export type Reading =
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "interrupt"; readonly text: string }
  | { readonly type: "end" };

export interface ReadOptions {
  /** Stands before the first row; further rows are indented by its width. May be coloured. */
  readonly label: string;
  /** The text to begin with. */
  readonly initial?: string;
  /** Earlier inputs for the arrow keys, oldest first. */
  readonly history?: readonly string[];
  /** All that the text before the cursor could become, for Tab. */
  readonly complete?: (text: string) => readonly string[];
  /** Whether keys that were pressed before count. */
  readonly typeAhead?: boolean;
  /** Whether Escape ends it as Ctrl-C does. */
  readonly escapable?: boolean;
}

export interface LineReader {
  /** One at a time. */
  read(options: ReadOptions): Promise<Reading>;
  /** Ends the reading that is on, if any, as the terminal's end would. */
  cancel(): void;
  /** Shows the input anew, in a window of another width. */
  resize(): void;
  /** Leaves a clean line for others to write on. */
  stop(): void;
  /** Shows the input again after that. */
  continue(): void;
}

export function createLineReader(terminal: Terminal, screen: Screen, keyboard: Keyboard): LineReader {
  const area = createEditArea(terminal);
  let active: { show(): void; finish(reading: Reading): void } | undefined;
  /** What Ctrl-Y brings back. */
  let killed = "";

  function read({ label, initial = "", history = [], complete, typeAhead, escapable }: ReadOptions): Promise<Reading> {
    const { promise, resolve } = Promise.withResolvers<Reading>();
    const recall = createRecall(history);
    let line = lineOf(initial);
    let showPlanned = false;
    /** Where the cursor wants to be while it moves through rows of different lengths. */
    let wantedColumn: number | undefined;

    /** One redraw for all keys that come at once. */
    function planShow(): void {
      if (showPlanned) return;
      showPlanned = true;
      queueMicrotask(() => {
        if (showPlanned) area.show(label, line);
        showPlanned = false;
      });
    }

    function finish(reading: Reading): void {
      showPlanned = false;
      area.settle(label, line.text);
      screen.forgetPosition();
      active = undefined;
      release();
      resolve(reading);
    }

    function change(next: EditLine): void {
      line = next;
      wantedColumn = undefined;
      planShow();
    }

    function moveRow(step: 1 | -1): void {
      const layout = layOut(line.text, terminal.columns - Bun.stringWidth(Bun.stripANSI(label)));
      const from = stopAt(layout, line.cursor);
      const to = stopInRow(layout, from.row + step, wantedColumn ?? from.column);
      if (to) {
        wantedColumn ??= from.column;
        line = { text: line.text, cursor: to.offset };
        planShow();
      } else browse(step);
    }

    function browse(step: 1 | -1): void {
      const text = step < 0 ? recall.older(line.text) : recall.newer(line.text);
      if (text !== undefined) change(lineOf(text));
    }

    function completeWord(): void {
      const head = line.text.slice(0, line.cursor);
      const candidates = complete?.(head) ?? [];
      const common = candidates.length === 1 ? `${candidates[0]} ` : commonStart(candidates);
      if (common.length > head.length) {
        change({ text: common + line.text.slice(line.cursor), cursor: common.length });
      } else if (candidates.length > 1) {
        area.erase();
        screen.print(`${Bun.wrapAnsi(candidates.join("  "), screen.columns)}\n`);
        planShow();
      }
    }

    function press(name: string): void {
      const edit = edits[name];
      const kill = kills[name];
      if (name === "enter") finish({ type: "line", text: line.text });
      else if (name === "ctrl-c" || (name === "escape" && escapable)) finish({ type: "interrupt", text: line.text });
      else if (name === "ctrl-d" && line.text === "") finish({ type: "end" });
      else if (name === "up") moveRow(-1);
      else if (name === "down") moveRow(1);
      else if (name === "ctrl-p") browse(-1);
      else if (name === "ctrl-n") browse(1);
      else if (name === "tab") completeWord();
      else if (name === "ctrl-y") change(insert(line, killed));
      else if (name === "ctrl-l") {
        terminal.write("\x1b[H\x1b[2J");
        area.forget();
        planShow();
      } else if (edit) change(edit(line));
      else if (kill) {
        const next = kill(line);
        killed = removedText(line, next) || killed;
        change(next);
      }
    }

    screen.hideStatus();
    screen.freshLine();
    const release = keyboard.focus((key) => (key.type === "press" ? press(key.name) : change(insert(line, key.text))));
    active = { show: () => area.show(label, line), finish };
    active.show();
    if (typeAhead) keyboard.replay();
    return promise;
  }

  return {
    read,
    cancel: () => active?.finish({ type: "end" }),
    resize: () => active?.show(),
    stop: () => area.leave(),
    continue() {
      area.forget();
      active?.show();
    },
  };
}

function commonStart(words: readonly string[]): string {
  const [first = ""] = words;
  let length = first.length;
  for (const word of words) while (!word.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}
