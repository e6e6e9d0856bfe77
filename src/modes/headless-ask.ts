// The answer where nobody can be asked: no, at once, said on stderr together with the flag that would allow it.
import type { Ask } from "../permission/gate.ts";
import { visible, visibleLine } from "../util/sanitize.ts";
import { shellQuote } from "../util/shell-quote.ts";
import type { Io } from "./io.ts";

export function createHeadlessAsk(io: Io): Ask {
  return async ({ toolName, summary, reason, rule }) => {
    const call = visible(summary).replaceAll("\n", "\n    ");
    const way =
      rule === undefined
        ? `--allow ${shellQuote(toolName)} allows every call of it, --yolo everything`
        : `--allow ${shellQuote(rule)} allows it`;
    io.stderr(
      `denied: ${visibleLine(toolName)} ${call}\n  (${visibleLine(reason)}; there is no terminal to ask)\n  ${way}\n`,
    );
    return { choice: "nobody" };
  };
}
