// Which tools a run offers to the model at all.
import { closest } from "../util/closest.ts";
import { AppError } from "../util/error.ts";
import { wildcard } from "./rules.ts";

export interface ToolSelection {
  readonly readOnly: boolean;
  /** The names given by `--tools`; undefined offers all. */
  readonly tools: readonly string[] | undefined;
  /** The names given by `--exclude-tools`. */
  readonly excludeTools: readonly string[];
}

const readOnlyTools = ["read", "grep", "find", "ls"];

/**
 * Gives the reason why a tool is withheld, or undefined for one that is offered. Names of MCP servers' tools may hold `*`.
 * Throws `AppError` `usage` for a name that no tool has.
 */
export function createWithheld(
  selection: ToolSelection,
  known: readonly string[],
): (name: string) => string | undefined {
  const { readOnly, tools, excludeTools } = selection;
  const offered = tools && toTest(tools, "--tools", known);
  const excluded = toTest(excludeTools, "--exclude-tools", known);
  return (name) => {
    if (readOnly && !readOnlyTools.includes(name)) return "--read-only";
    if (offered && !offered(name)) return "not among --tools";
    return excluded(name) ? "--exclude-tools" : undefined;
  };
}

function toTest(names: readonly string[], flag: string, known: readonly string[]): (name: string) => boolean {
  const tests = names.map((name) => {
    if (name.startsWith("mcp__")) return wildcard(name);
    if (known.includes(name)) return (candidate: string) => candidate === name;
    const near = closest(name, known);
    throw new AppError("usage", `${flag}: there is no tool '${name}'`, {
      hint: `${near ? `Did you mean ${near}? ` : ""}Known: ${known.join(", ")}, and mcp__server__tool, where * stands for any characters.`,
    });
  });
  return (name) => tests.some((matches) => matches(name));
}
