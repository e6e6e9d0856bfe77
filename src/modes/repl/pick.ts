// Picking one of many rows in the REPL: the list scrolls by, and a line is read for the answer.
import type { CommandUi } from "../../commands/command.ts";
import { visibleLine } from "../../util/sanitize.ts";
import { cutToWidth } from "../layout.ts";
import { createPicker } from "../picker.ts";
import type { Style } from "../style.ts";
import type { LineReader } from "./line-reader.ts";
import type { Screen } from "./screen.ts";
import type { Transcript } from "./transcript.ts";

export interface PickContext {
  readonly reader: LineReader;
  readonly screen: Screen;
  readonly transcript: Transcript;
  readonly style: Style;
}

export function createReplPick({ reader, screen, transcript, style }: PickContext): CommandUi["pick"] {
  return async (title, rows, from) => {
    const shown = rows.map((row) => cutToWidth(visibleLine(row), screen.columns - 8));
    const picker = createPicker(shown, from);
    transcript.notice(style.bold(title));
    for (;;) {
      transcript.notice(visibleLines(picker.list()));
      const reading = await reader.read({ label: style.bold(picker.question), escapable: true });
      const step = picker.answer(reading.type === "line" ? reading.text : "");
      if (step.type === "picked") return step.index;
      if (step.type === "none") return undefined;
    }
  };
}

function visibleLines(text: string): string {
  return text.split("\n").map(visibleLine).join("\n");
}
