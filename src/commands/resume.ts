// `/resume`: goes on in another session of this directory.
import { existsSync } from "node:fs";
import type { App } from "../app/app.ts";
import { lossNotes, rowOf, type Sessions } from "../app/sessions.ts";
import type { Command, CommandContext, CommandResult } from "./command.ts";

export const resume: Command = {
  name: "resume",
  args: "[id|name]",
  summary: "Go on in another session of this directory",
  async run(context) {
    const { app, args } = context;
    const { sessions } = app;
    if (!sessions) return { text: "There are no other sessions here." };
    if (args === "") return await pick(context, sessions);
    const found = await sessions.find(args);
    if (found.cwd !== undefined && found.cwd !== sessions.cwd && existsSync(found.cwd)) {
      return { text: `That session belongs to ${found.cwd}.\n  pi-ts --resume ${found.id} goes on in it there.` };
    }
    if (found.id === app.session().id) return { text: "This is that session." };
    return goOn(app, sessions, found.path);
  },
};

async function pick({ app, ui }: CommandContext, sessions: Sessions): Promise<CommandResult> {
  const others = (await sessions.list()).filter(({ id }) => id !== app.session().id);
  if (others.length === 0) return { text: "There is no other session of this directory." };
  const position = await ui.pick(
    "Sessions of this directory",
    others.map((other) => rowOf(other)),
  );
  const picked = position === undefined ? undefined : others[position];
  return picked ? goOn(app, sessions, picked.path) : { text: "The session stays as it is." };
}

/** With the model that the session was on, as `--resume` has it; where that cannot be had, the app says why and stays on its own. */
async function goOn(app: App, sessions: Sessions, path: string): Promise<CommandResult> {
  const { session, badLines } = sessions.open(path);
  app.useSession(session);
  const before = app.config.model;
  await app.adoptSettings();
  const { model } = app.config;
  const notes = [
    `Going on in ${session.name() ?? session.id}.`,
    ...lossNotes(badLines).map((note) => `${note}.`),
    ...(model === before ? [] : [`It is on ${model.provider}/${model.id}.`]),
  ];
  return { text: notes.join("\n"), recap: true };
}
