// The answer where nobody can be asked: no, at once, said to the model and on stderr together with the flag that would allow it.
import type { Ask } from "../permission/gate.ts";
import { visible, visibleLine } from "../util/sanitize.ts";
import type { Io } from "./io.ts";

export function createHeadlessAsk(io: Io): Ask {
  return async ({ toolName, summary, reason }) => {
    io.stderr(
      `denied: ${visibleLine(toolName)} ${visible(summary)}\n  (${visible(reason)}; there is no terminal to ask. --yolo allows it)\n`,
    );
    return {
      allowed: false,
      reason: `denied: ${toolName} was not approved (${reason}), and nobody can be asked in this run. Go on without it, or say what you need`,
    };
  };
}
