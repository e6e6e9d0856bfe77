// Notices for people, on stderr. The logger behind it is loaded with the first notice, since most runs have none.
import { writeSync } from "node:fs";
import type { ConsolaInstance } from "consola/core";
import { visible } from "./sanitize.ts";

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

/** Writes to stderr at once; a stderr that is closed or full is no reason to fail. */
export function writeStderr(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let offset = 0, tries = 0; offset < bytes.length && tries < 100; ) {
    try {
      offset += writeSync(2, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      tries++;
      Bun.sleepSync(10);
    }
  }
}
