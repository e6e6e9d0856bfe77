// The commands about sessions: which one is in use, what is in it, and what becomes of it.
import type { App } from "../../app/app.ts";
import { lossNotes, type Sessions, toNodes } from "../../app/sessions.ts";
import { AppError } from "../../util/error.ts";
import { log } from "../../util/log.ts";
import { isSameFile } from "../../util/paths.ts";
import { type Handlers, textOf } from "./handlers.ts";

type SessionCommand =
  | "new_session"
  | "switch_session"
  | "fork"
  | "clone"
  | "get_entries"
  | "get_tree"
  | "set_session_name"
  | "export_html";

export const sessionHandlers: Pick<Handlers, SessionCommand> = {
  async new_session({ parentSession }, { app }) {
    await leave(app);
    const { sessions } = app;
    if (sessions) app.useSession(sessions.create(parentSession));
    else app.clear();
    return { cancelled: false };
  },
  async switch_session({ sessionPath }, { app }) {
    const sessions = others(app);
    const { path } = app.session();
    if (path !== undefined && isSameFile(sessionPath, path)) return { cancelled: false };
    const { session, badLines } = sessions.open(sessionPath);
    await leave(app);
    app.useSession(session);
    if (!app.config.quiet) for (const note of lossNotes(badLines)) log().warn(note);
    await app.adoptSettings();
    return { cancelled: false };
  },
  async fork({ entryId }, { app }) {
    const session = app.session();
    const entry = session.entries().find(({ id }) => id === entryId);
    if (entry?.type !== "message" || entry.message.role !== "user") {
      throw new AppError("usage", `'entryId' must be the id of a message of the user's, which ${entryId} is not`);
    }
    const forked = await others(app).fork(session, entry.parentId);
    await leave(app);
    app.useSession(forked);
    return { text: textOf(entry.message.content), cancelled: false };
  },
  async clone(_params, { app }) {
    await leave(app);
    const session = app.session();
    app.useSession(await others(app).fork(session, session.leafId()));
    return { cancelled: false };
  },
  get_entries({ since }, { app }) {
    const session = app.session();
    const entries = session.entries();
    const position = since === undefined ? -1 : entries.findIndex(({ id }) => id === since);
    if (since !== undefined && position < 0) throw new AppError("usage", `Entry not found: ${since}`);
    return { entries: entries.slice(position + 1), leafId: session.leafId() };
  },
  get_tree: (_params, { app }) => ({ tree: toNodes(app.session().entries()), leafId: app.session().leafId() }),
  set_session_name({ name }, { app }) {
    const given = name.trim();
    if (given === "") throw new AppError("usage", "'name' cannot be empty");
    app.rename(given);
  },
  async export_html({ outputPath }, { app }) {
    const { exportOpenSession } = await import("../../app/export.ts");
    const { path } = await exportOpenSession(app.session(), outputPath);
    return { path };
  },
};

function others({ sessions }: App): Sessions {
  if (sessions) return sessions;
  throw new AppError("usage", "There are no other sessions here");
}

/** What runs in a session ends with it, and so does what waits for its turn there. */
async function leave(app: App): Promise<void> {
  await app.abort();
  if (app.queue.size() > 0) app.queue.clear();
}
