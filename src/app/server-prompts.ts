// Prompts of MCP servers as slash commands: `/mcp__server__prompt arguments`.
import type { CommandInfo } from "../protocol/rpc.ts";
import { AppError } from "../util/error.ts";
import type { Mcp } from "./mcp.ts";
import { splitArguments } from "./prompt-templates.ts";

/** The prompt's text; undefined for a text that is no such command. Throws `AppError`. */
export async function expandServerPrompt(text: string, mcp: Mcp, signal: AbortSignal): Promise<string | undefined> {
  const { name, args } = parse(text) ?? {};
  if (name === undefined) return undefined;
  try {
    await mcp.ready(signal);
  } catch (error) {
    throw signal.aborted ? new AppError("aborted", "Request aborted") : error;
  }
  if (!mcp.prompts().some((prompt) => prompt.name === name)) return undefined;
  return mcp.fillPrompt(name, splitArguments(args ?? ""));
}

/** Also for any such name as long as a server is connecting. */
export function isServerPrompt(text: string, mcp: Mcp): boolean {
  const name = parse(text)?.name;
  return name !== undefined && (mcp.pending().length > 0 || mcp.prompts().some((prompt) => prompt.name === name));
}

export function serverCommands(mcp: Mcp): CommandInfo[] {
  return mcp.prompts().map(({ name, description, server: { source, scope } }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    source: "prompt" as const,
    sourceInfo: { path: source, source: scope === "temporary" ? "cli" : "local", scope, origin: "top-level" as const },
  }));
}

function parse(text: string): { readonly name: string; readonly args: string } | undefined {
  const match = /^\/(mcp__[\w-]+)(?:\s+(.*))?$/s.exec(text);
  return match ? { name: match[1] ?? "", args: match[2] ?? "" } : undefined;
}
