// Prompt templates: Markdown files that become what the user says with `/name arguments`.
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { CommandInfo } from "../protocol/rpc.ts";
import { headText, readMarkdown } from "./frontmatter.ts";
import type { Place } from "./resources.ts";

export interface PromptTemplate {
  readonly name: string;
  /** Of the head, or the first line that says something. */
  readonly description: string;
  readonly body: string;
  readonly sourceInfo: CommandInfo["sourceInfo"];
}

/** The `.md` files in each place, which can be one itself; of several with one name the first counts. */
export function findTemplates(places: readonly Place[], notify: (text: string) => void): PromptTemplate[] {
  const templates = new Map<string, PromptTemplate>();
  for (const { path: place, source, scope } of places) {
    const files = templateFiles(place);
    if (files.length === 0 && source === "cli") notify(`There is no prompt template in ${place}`);
    for (const path of files) {
      const name = basename(path, ".md");
      if (templates.has(name)) continue;
      try {
        const { head, body } = readMarkdown(path);
        const description = headText(head, "description") ?? firstLine(body);
        templates.set(name, {
          name,
          description,
          body,
          sourceInfo: { path, source, scope, origin: "top-level" },
        });
      } catch (error) {
        notify(`The prompt template ${path} is left out: ${(error as Error).message}`);
      }
    }
  }
  return [...templates.values()];
}

function templateFiles(path: string): string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return [path];
  try {
    return readdirSync(path)
      .filter((name) => /^[^.\s].*\.md$/.test(name))
      .sort()
      .map((name) => join(path, name));
  } catch {
    return [];
  }
}

function firstLine(body: string): string {
  return (body.split("\n").find((line) => line.trim() !== "") ?? "").trim();
}

const placeholder = /\$\{(\d+|@):-([^}]*)\}|\$\{@:(\d+)(?::(\d+))?\}|\$(\d+|@|ARGUMENTS)(?!\w)/g;

/**
 * The body with the arguments in their places: `$1`, `$@` or `$ARGUMENTS` (all of them), `${1:-default}`, `${@:-default}`, `${@:2}` (from the
 * second), `${@:2:3}` (three of them). Arguments that the body has no place for follow it.
 */
export function fillTemplate(body: string, given: string): string {
  const args = splitArguments(given);
  const all = args.join(" ");
  let isPlaced = false;
  const text = body.replaceAll(placeholder, (_match, named, fallback, from, count, plain) => {
    isPlaced = true;
    if (from !== undefined) {
      const start = Math.max(0, Number(from) - 1);
      return args.slice(start, count === undefined ? undefined : start + Number(count)).join(" ");
    }
    const name: string = named ?? plain;
    const value = name === "@" || name === "ARGUMENTS" ? all : (args[Number(name) - 1] ?? "");
    return value === "" ? (fallback ?? "") : value;
  });
  return isPlaced || given.trim() === "" ? text : `${text}\n\n${given.trim()}`;
}

/** Words as a shell would see them: quotes around a word keep it together, and one without an end is an ordinary character. */
export function splitArguments(text: string): string[] {
  const words = text.matchAll(/"((?:\\.|[^"\\])*)"(?=\s|$)|'((?:\\.|[^'\\])*)'(?=\s|$)|(\S+)/g);
  return [...words].map(([, double, single, plain]) => {
    if (double !== undefined) return double.replaceAll('\\"', '"');
    return single !== undefined ? single.replaceAll("\\'", "'") : (plain ?? "");
  });
}
