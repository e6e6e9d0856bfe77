// The rule that would allow a call and nothing else, for those who were refused it.
import { visible } from "../util/sanitize.ts";
import type { GateRequest } from "./gate.ts";
import { escapePath } from "./path-rule.ts";
import { createRules } from "./rules.ts";
import { parseSimpleCommand } from "./simple-command.ts";

/** Undefined when no rule can hold, as for a compound command. */
export function suggestRule(request: GateRequest, realCwd: string): string | undefined {
  const text = draft(request);
  // What cannot be shown as it is cannot be copied.
  if (text === undefined || visible(text) !== text || text.includes("\n")) return undefined;
  const tools = [request.toolName];
  try {
    return createRules([{ text, source: "--allow" }], [], { realCwd, tools }).allows(request) ? text : undefined;
  } catch {
    return undefined;
  }
}

function draft({ toolName, args, realPaths }: GateRequest): string | undefined {
  if (toolName === "bash") {
    const words = typeof args.command === "string" ? parseSimpleCommand(args.command) : undefined;
    return words && `bash(${words.join(" ")})`;
  }
  if (toolName.startsWith("mcp__")) return toolName;
  const [path, ...others] = realPaths;
  if (path === undefined || others.length > 0) return undefined;
  return `${toolName}(${escapePath(path)})`;
}
