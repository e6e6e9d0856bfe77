// `/clear`: a new conversation under the same system prompt.
import type { Command } from "./command.ts";

export const clear: Command = {
  name: "clear",
  summary: "Forget the conversation and start a new one",
  run({ app }) {
    app.clear();
    return { text: "The conversation is forgotten." };
  },
};
