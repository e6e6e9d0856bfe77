// What is told of a task that begins like a command where there is none of that name: the model gets it as text.
import type { App } from "../app/app.ts";
import { findUnknown, parseCommand } from "../commands/line.ts";

/** No name is longer; a longer word is a part of a sentence. */
const longestName = 100;

/** Undefined for a text that begins with no name, as with a path, and for one that the app knows. */
export async function describeUnknownCommand(text: string, app: App): Promise<string | undefined> {
  const { name } = parseCommand(text) ?? {};
  if (name === undefined || name.length > longestName) return undefined;
  const unknown = await findUnknown(text, name, app, []);
  if (!unknown) return undefined;
  const { heldBack, near, isPath } = unknown;
  if (heldBack !== undefined) return `/${name} is sent as text: ${heldBack}`;
  const { commands } = await import("../commands/index.ts");
  if (commands.some((command) => command.name === name)) {
    return `/${name} is a command of conversations in a terminal; here it is sent as text`;
  }
  if (isPath) return undefined;
  const what = name.startsWith("skill:") ? "skill" : "prompt template or command";
  const hint = near === undefined ? "" : `. Did you mean /${near}?`;
  return `There is no ${what} /${name}; it is sent as text${hint}`;
}
