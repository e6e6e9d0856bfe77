// What is told of a task that begins like a command where there is none of that name: the model gets it as text.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../app/app.ts";
import { describeHeldBack } from "../commands/held-back.ts";
import { closest } from "../util/closest.ts";

/** A slash and a name. None ends with a dot or a colon, as a part of a sentence may, or is longer than any there could be. */
const namePattern = /^\/([\p{L}\p{N}_](?:[\p{L}\p{N}_.:-]{0,98}[\p{L}\p{N}_-])?)(?:\s|$)/u;

/** Undefined for a text that begins with no such name, as with a path, and for one that the app knows. */
export async function describeUnknownCommand(text: string, app: App): Promise<string | undefined> {
  const [, name] = namePattern.exec(text) ?? [];
  if (name === undefined || existsSync(`/${name}`) || (await app.knows(text))) return undefined;
  const file = await app.heldBack(text);
  if (file !== undefined) return `/${name} is sent as text: ${describeHeldBack(file)}`;
  const { commands } = await import("../commands/index.ts");
  if (commands.some((command) => command.name === name)) {
    return `/${name} is a command of conversations in a terminal; here it is sent as text`;
  }
  const near = closest(
    name,
    (await app.commands()).map((command) => command.name),
  );
  // Many write a path from the project's root with a slash in front.
  if (near === undefined && existsSync(join(app.session().cwd, name))) return undefined;
  const what = name.startsWith("skill:") ? "skill" : "prompt template or command";
  const hint = near === undefined ? "" : `. Did you mean /${near}?`;
  return `There is no ${what} /${name}; it is sent as text${hint}`;
}
