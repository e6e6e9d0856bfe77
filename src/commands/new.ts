// `/new`: another session; the one before stays where it is.
import type { Command } from "./command.ts";

export const newSession: Command = {
  name: "new",
  summary: "Start a new session; --resume or /resume finds this one again",
  run({ app }) {
    app.clear();
    return { text: "A new session." };
  },
};
