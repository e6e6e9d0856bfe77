// Which tools a run offers to the model at all.
import { closest } from "../util/closest.ts";
import { AppError } from "../util/error.ts";
import { foreignTools } from "./foreign-tools.ts";
import { wildcard } from "./rules.ts";

export interface ToolSelection {
  readonly readOnly: boolean;
  /** The names given by `--tools`: those to offer, or, with + or - before each, changes to all of them. Undefined offers all. */
  readonly tools: readonly string[] | undefined;
  /** The names given by `--exclude-tools`. */
  readonly excludeTools: readonly string[];
  /** Whether a tool of an MCP server only reads, as far as its word is trusted. */
  readonly reads?: ((name: string) => boolean) | undefined;
}

const readOnlyTools = ["read", "grep", "find", "ls"];

/**
 * Gives the reason why a tool is withheld, or undefined for one that is offered. In names, `*` stands for any characters.
 * Throws `AppError` `usage` for a name that no tool has, here or in pi.
 */
export function createWithheld(
  selection: ToolSelection,
  known: readonly string[],
): (name: string) => string | undefined {
  const { readOnly, tools, excludeTools, reads = () => false } = selection;
  const offered = tools && toOffered(tools, known);
  const excluded = toTest(excludeTools, "--exclude-tools", known);
  return (name) => {
    if (readOnly && !readOnlyTools.includes(name) && !reads(name)) return "--read-only";
    if (offered && !offered(name)) return "not among --tools";
    return excluded(name) ? "--exclude-tools" : undefined;
  };
}

function toOffered(names: readonly string[], known: readonly string[]): (name: string) => boolean {
  const isChange = (name: string) => /^[+-]/.test(name);
  if (!names.some(isChange)) return toTest(names, "--tools", known);
  if (!names.every(isChange)) {
    throw new AppError("usage", "--tools: names with and without + or - exclude each other", {
      hint: "Name the tools to offer, or only changes to all of them, such as -write.",
    });
  }
  const changes = names.map((name) => ({
    isOffered: name.startsWith("+"),
    fits: toTest([name.slice(1)], "--tools", known),
  }));
  return (name) => changes.findLast(({ fits }) => fits(name))?.isOffered ?? true;
}

function toTest(names: readonly string[], flag: string, known: readonly string[]): (name: string) => boolean {
  const tests = names.map((name) => {
    const matches = wildcard(name);
    if (name.startsWith("mcp__") || foreignTools.has(name) || known.some(matches)) return matches;
    const near = closest(name, known);
    throw new AppError("usage", `${flag}: there is no tool '${name}'`, {
      hint: `${near ? `Did you mean ${near}? ` : ""}Known: ${known.join(", ")}, and mcp__server__tool, where * stands for any characters.`,
    });
  });
  return (name) => tests.some((matches) => matches(name));
}
