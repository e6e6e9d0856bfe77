// The user's rules: `tool` for every call of a tool, `bash(words *)` for commands, `read(path)` and its like for files.
import { closest } from "../util/closest.ts";
import { AppError } from "../util/error.ts";
import type { RuleText } from "../util/rule-text.ts";
import { allowsCommand, type CommandPattern, deniesCommand, parseCommandPattern } from "./command-rule.ts";
import type { GateRequest } from "./gate.ts";
import { matchesPath, type PathPattern, parsePathPattern } from "./path-rule.ts";
import type { Rules } from "./policy.ts";

export interface RuleOptions {
  /** The working directory with symlinks resolved. */
  readonly realCwd: string;
  /** The names of the tools there are; those of MCP servers are known only later. */
  readonly tools: readonly string[];
}

interface Rule extends RuleText {
  /** Whether it speaks of a tool of this name. */
  readonly isAbout: (toolName: string) => boolean;
  readonly command?: CommandPattern;
  readonly path?: PathPattern;
}

/** Throws `AppError` for a rule that cannot be understood: `usage` when a flag gave it, `config` when a file did. */
export function createRules(allow: readonly RuleText[], deny: readonly RuleText[], options: RuleOptions): Rules {
  const allowing = allow.map((rule) => parseRule(rule, options, false));
  const denying = deny.map((rule) => parseRule(rule, options, true));
  return {
    denying(request) {
      const rule = denying.find((candidate) => denies(candidate, request));
      return rule && `${rule.text} from ${rule.source}`;
    },
    deniesPath: (toolName, path) => denying.some((rule) => deniesPath(rule, toolName, path)),
    allows: (request) => allows(allowing, request),
  };
}

/** Every path of a call must be covered, each by whichever rule. */
function allows(rules: readonly Rule[], { toolName, args, realPaths }: GateRequest): boolean {
  const own = rules.filter((rule) => rule.isAbout(toolName));
  if (own.some((rule) => !rule.command && !rule.path)) return true;
  const { command } = args;
  if (typeof command === "string" && own.some((rule) => rule.command && allowsCommand(rule.command, command)))
    return true;
  return (
    realPaths.length > 0 && realPaths.every((path) => own.some((rule) => rule.path && matchesPath(rule.path, path)))
  );
}

/** One path is enough, as the model named it or where it leads. */
function denies(rule: Rule, { toolName, args, paths, realPaths }: GateRequest): boolean {
  const { command, path } = rule;
  if (path) return [...paths, ...realPaths].some((candidate) => deniesPath(rule, toolName, candidate));
  if (!rule.isAbout(toolName)) return false;
  return !command || typeof args.command !== "string" || deniesCommand(command, args.command);
}

/** What may not be read may not be searched either, since matches show what is in it. */
function deniesPath({ path, isAbout }: Rule, toolName: string, candidate: string): boolean {
  const isMeant = isAbout(toolName) || (toolName === "grep" && isAbout("read"));
  return path !== undefined && isMeant && matchesPath(path, candidate);
}

/** `wholeFolders`: a path stands for all that is below it too. */
function parseRule(rule: RuleText, { realCwd, tools }: RuleOptions, wholeFolders: boolean): Rule {
  const { text } = rule;
  const match = /^([A-Za-z][\w.*-]*)(?:\((.*)\))?$/s.exec(text.trim());
  const [, name = "", pattern] = match ?? [];
  if (!match) throw wrongRule(rule, "it is not of the form tool or tool(pattern)");
  const isMcp = name.startsWith("mcp__");
  if (!isMcp && !tools.includes(name)) {
    const near = closest(name, tools);
    throw wrongRule(
      rule,
      `there is no tool '${name}'`,
      `${near ? `Did you mean ${near}? ` : ""}Known: ${tools.join(", ")}, and mcp__server__tool.`,
    );
  }
  const isAbout = isMcp ? wildcard(name) : (toolName: string) => toolName === name;
  if (pattern === undefined) return { ...rule, isAbout };
  if (isMcp) throw wrongRule(rule, "a rule for a tool of an MCP server takes no pattern");
  if (name === "bash") {
    const command = parseCommandPattern(pattern);
    if (command) return { ...rule, isAbout, command };
    throw wrongRule(
      rule,
      "its pattern is not one simple command",
      "Write plain words, and * only as the last one, for any further words; bash without a pattern stands for every command.",
    );
  }
  const path = parsePathPattern(pattern, realCwd, wholeFolders);
  if (path) return { ...rule, isAbout, path };
  throw wrongRule(
    rule,
    "its pattern is not a path",
    "Write a path whose components may be globs, and ** for any folders.",
  );
}

/** A test for names in which `*` stands for any characters. */
export function wildcard(pattern: string): (name: string) => boolean {
  const expression = new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*")}$`, "s");
  return (name) => expression.test(name);
}

function wrongRule(
  { text, source }: RuleText,
  why: string,
  hint = "Such as bash(npm test), write(src/**) or mcp__server__*.",
): AppError {
  return new AppError(
    source.startsWith("--") ? "usage" : "config",
    `${source}: the rule '${text}' cannot be used: ${why}`,
    { hint },
  );
}
