// `/save`: makes sure that the session is kept, also one that began with --no-session, and names it.
import type { Command } from "./command.ts";

export const save: Command = {
  name: "save",
  args: "[name]",
  summary: "Store the session, also after --no-session, and name it",
  run({ app, args }) {
    if (app.session().path === undefined) {
      if (!app.sessions) return { text: "Sessions are not stored here." };
      app.useSession(app.sessions.store(app.session()));
    }
    const session = app.session();
    if (args !== "") app.rename(args);
    const name = session.name();
    const title = `${name === undefined ? "Session" : `'${name}',`} ${session.id}`;
    return { text: `${title}\n${session.stored() ? session.path : "It is stored with its first message."}` };
  },
};
