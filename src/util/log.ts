// Notices for people, on stderr. The logger behind it is loaded with the first notice, since most runs have none.
import type { ConsolaInstance } from "consola/core";
import { visible } from "./sanitize.ts";
import { writeStderr } from "./stderr.ts";

let logger: ConsolaInstance | undefined;

const marks: Readonly<Record<string, string>> = { error: "error: ", warn: "warning: " };

/** A consola instance that writes plain lines to stderr, never to stdout; whatever they quote, a terminal can show them. */
export function log(): ConsolaInstance {
  if (logger) return logger;
  const { createConsola } = require("consola/core") as typeof import("consola/core");
  logger = createConsola({
    level: 3,
    reporters: [
      {
        log: ({ type, args }) => writeStderr(`${marks[type] ?? ""}${visible(args.join(" "))}\n`),
      },
    ],
  });
  return logger;
}
