// Runs while the program is built: the help of the root command.
import { rootArgs, rootMeta } from "./args.ts";
import { renderHelp } from "./help.ts";

export function rootHelp(): string {
  return renderHelp({ meta: rootMeta, args: rootArgs }, false);
}
