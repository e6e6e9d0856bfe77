// Which session to go on in, asked on a terminal that is in its usual mode: a numbered list, and a line to answer with.
import { rowOf, type SessionSummary } from "../app/sessions.ts";
import { createPicker } from "./picker.ts";
import { askLine } from "./terminal-ask.ts";

/** Undefined when none is picked. */
export async function pickSession(sessions: readonly SessionSummary[]): Promise<SessionSummary | undefined> {
  const picker = createPicker(sessions.map((summary) => rowOf(summary)));
  for (;;) {
    const step = picker.answer(await askLine(`${picker.list()}\n${picker.question}`));
    if (step.type === "picked") return sessions[step.index];
    if (step.type === "none") return undefined;
  }
}
