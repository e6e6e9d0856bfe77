// `/fork`: a new session from an earlier message of this one, to say something else there.
import { pathTo } from "../app/sessions.ts";
import type { Command } from "./command.ts";
import { oneLineOf, textOf } from "./entry-text.ts";

export const fork: Command = {
  name: "fork",
  summary: "Go on in a copy, from before one of your messages",
  async run({ app, ui }) {
    const { sessions } = app;
    if (!sessions) return { text: "There are no other sessions here." };
    const session = app.session();
    const said = pathTo(session.entries(), session.leafId())
      .flatMap((entry) =>
        entry.type === "message" && entry.message.role === "user" ? [{ ...entry, content: entry.message.content }] : [],
      )
      .reverse();
    if (said.length === 0) return { text: "Nothing has been said yet." };
    const position = await ui.pick(
      "Your messages, latest first",
      said.map(({ content }) => oneLineOf(content)),
    );
    const entry = position === undefined ? undefined : said[position];
    if (!entry) return { text: "The session stays as it is." };
    app.useSession(await sessions.fork(session, entry.parentId));
    return { text: `In a copy of the session from before that message.`, input: textOf(entry.content), recap: true };
  },
};
