// `pi-ts sessions`: list, show, remove and export what was stored.
import { lossNotes, type SessionSummary } from "../app/sessions.ts";
import {
  findStored,
  listStored,
  type Place,
  readStored,
  removeStored,
  timeOf,
  titleOf,
} from "../app/stored-sessions.ts";
import { describeCall, describeContent, forReader } from "../modes/show.ts";
import type { Message } from "../protocol/message.ts";
import { closest } from "../util/closest.ts";
import { AppError } from "../util/error.ts";
import { log } from "../util/log.ts";
import { visibleLine } from "../util/sanitize.ts";
import { type CliContext, defineCommand } from "./command.ts";

const actions = ["list", "show", "rm", "export"] as const;

export const sessions = defineCommand({
  meta: { name: "sessions", description: "List, show, remove or export stored conversations" },
  args: {
    action: {
      type: "positional",
      required: false,
      complete: actions,
      description: "list (default), show, rm or export",
    },
    session: {
      type: "positional",
      required: false,
      complete: "sessions",
      description: "Id, beginning of an id, name, or path",
    },
    file: { type: "positional", required: false, complete: "files", description: "For export: the page to write" },
    json: { type: "boolean", description: "One JSON object a line" },
    here: { type: "boolean", description: "List only the sessions of this directory" },
    "session-dir": { type: "string", valueHint: "folder", description: "Folder of the sessions (~/.pi-ts/sessions)" },
    help: { type: "boolean", alias: "h", description: "Print this help and exit" },
  },
  async run(args, context) {
    const [action = "list", ...rest] = context.words;
    const place = placeOf(args["session-dir"], context);
    const { io } = context;
    const json = args.json ?? false;
    switch (action) {
      case "list":
        if (rest.length > 0)
          throw new AppError("usage", `pi-ts sessions list takes no further words (${rest.join(" ")})`);
        return list(listStored(place, !args.here), json, context);
      case "show":
        return show(only(rest, "show"), place, json, context);
      case "rm":
        if (rest.length === 0) throw needsSession("rm");
        for (const query of rest) {
          const path = removeStored(query, place);
          io.stdout(json ? `${JSON.stringify({ removed: path })}\n` : `removed ${forReader(path, io)}\n`);
        }
        return 0;
      case "export": {
        const [query, outfile, ...more] = rest;
        if (query === undefined) throw needsSession("export");
        if (more.length > 0)
          throw new AppError("usage", `pi-ts sessions export takes a session and a file (${more.join(" ")})`);
        const { exportSession, pageName } = await import("../app/export.ts");
        const { path, id } = findStored(query, place);
        const page = await exportSession(path, outfile ?? pageName(id));
        io.stdout(json ? `${JSON.stringify(page)}\n` : `${forReader(page.path, io)}\n`);
        return 0;
      }
      default: {
        const near = closest(action, actions);
        throw new AppError("usage", `pi-ts sessions has no command ${action}`, {
          hint: near ? `Did you mean ${near}?` : `It has ${actions.join(", ")}.`,
        });
      }
    }
  },
});

/** What `--sessions` and `sessions list` print. */
export function listSessions(sessionDir: string | undefined, json: boolean, context: CliContext): number {
  return list(listStored(placeOf(sessionDir, context), true), json, context);
}

function placeOf(sessionDir: string | undefined, { cwd, env }: CliContext): Place {
  return { cwd, env, sessionDir };
}

function only(words: readonly string[], action: string): string {
  const [query, ...more] = words;
  if (query === undefined) throw needsSession(action);
  if (more.length > 0) throw new AppError("usage", `pi-ts sessions ${action} takes one session (${more.join(" ")})`);
  return query;
}

function needsSession(action: string): AppError {
  return new AppError("usage", `pi-ts sessions ${action} needs a session`, {
    hint: "Its id, the beginning of it, its name or its path; `pi-ts sessions list` shows them.",
  });
}

function list(found: readonly SessionSummary[], json: boolean, { io, cwd }: CliContext): number {
  if (json) {
    io.stdout(found.map((summary) => `${JSON.stringify(toJson(summary))}\n`).join(""));
    return 0;
  }
  const width = Math.max(0, ...found.map(({ id }) => id.length));
  for (const summary of found) {
    const place = summary.cwd === cwd || summary.cwd === undefined ? "" : `  [${visibleLine(summary.cwd)}]`;
    io.stdout(`${visibleLine(summary.id).padEnd(width)}  ${timeOf(summary.modified)}  ${titleOf(summary)}${place}\n`);
  }
  if (found.length === 0) io.stderr("No sessions are stored.\n");
  return 0;
}

function toJson({ modified, ...summary }: SessionSummary) {
  return { ...summary, modified: new Date(modified).toISOString() };
}

function show(query: string, place: Place, json: boolean, { io }: CliContext): number {
  const { summary, messages, badLines } = readStored(query, place);
  for (const note of lossNotes(badLines)) log().warn(note);
  if (json) {
    io.stdout(`${JSON.stringify({ ...toJson(summary), messages })}\n`);
    return 0;
  }
  const facts = [
    ["session", summary.id],
    ["name", summary.name],
    ["file", summary.path],
    ["folder", summary.cwd],
    ["begun", summary.created],
    ["written", timeOf(summary.modified)],
    ["forked from", summary.parentSession],
  ].filter((row): row is [string, string] => row[1] !== undefined);
  const head = facts.map(([name, value]) => `${name.padEnd(11)}  ${visibleLine(value)}\n`).join("");
  io.stdout(head + forReader(messages.map(toText).join(""), io));
  return 0;
}

function toText(message: Message): string {
  switch (message.role) {
    case "user":
      return `\n> ${describeContent(message.content).replaceAll("\n", "\n  ")}\n`;
    case "assistant": {
      const parts = message.content.flatMap((block) => {
        if (block.type === "text" && block.text.trim() !== "") return [`\n${block.text.trim()}\n`];
        return block.type === "toolCall" ? [`→ ${describeCall(block.name, block.arguments)}\n`] : [];
      });
      return parts.join("");
    }
    case "toolResult":
      return message.isError
        ? `  ✗ ${visibleLine(describeContent(message.content).split("\n", 1)[0] ?? "").slice(0, 300)}\n`
        : "";
    case "compactionSummary":
    case "branchSummary":
      return `\n[summary] ${message.summary.trim()}\n`;
    case "bashExecution":
      return `\n! ${message.command}\n`;
    default:
      return "";
  }
}
