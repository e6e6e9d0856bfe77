// `/name`: what the session is called, in lists and for --resume.
import type { Command } from "./command.ts";

export const name: Command = {
  name: "name",
  args: "[name]",
  summary: "Name the session, or show its name",
  run({ app, args }) {
    const session = app.session();
    if (args === "") return { text: session.name() ?? "The session has no name; /name NAME gives it one." };
    app.rename(args);
    return { text: `The session is called '${args}'.` };
  },
};
