// What a server's prompt is filled in with, and what comes of it as the user's words.
import { AppError } from "../../util/error.ts";
import { ToolError } from "../tool.ts";
import type { ServerPrompt } from "./lists.ts";
import { showBlock } from "./result.ts";
import type { Server } from "./server.ts";

/** The prompt's text. `words` are its arguments in order; `name=value` names one, and what is left over belongs to the last. Throws `AppError`. */
export async function fillPrompt(
  offeredAs: string,
  prompt: ServerPrompt,
  words: readonly string[],
  server: Server,
): Promise<string> {
  const args = toArguments(prompt, words);
  const missing = prompt.args.filter(({ name, required }) => required && args[name] === undefined);
  if (missing.length > 0) {
    throw new AppError("usage", `/${offeredAs} needs ${missing.map(({ name }) => name).join(", ")}`, {
      hint: `/${offeredAs} ${prompt.args.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ")}`,
    });
  }
  try {
    const messages = await server.ask((connection, limits) => connection.getPrompt(prompt.name, args, limits), {});
    const texts = [];
    for (const { content } of messages) {
      for (const block of Array.isArray(content) ? content : [content])
        texts.push((await showBlock(block, false)).text);
    }
    return texts.filter((text) => text.trim() !== "").join("\n\n");
  } catch (error) {
    if (error instanceof ToolError) throw new AppError("mcp", `/${offeredAs}: ${error.message}`, { cause: error });
    throw error;
  }
}

export function toArguments({ args }: ServerPrompt, words: readonly string[]): Record<string, string> {
  const named = new Map<string, string>();
  const rest: string[] = [];
  for (const word of words) {
    const [, name = "", value = ""] = /^([^=\s]+)=(.*)$/s.exec(word) ?? [];
    if (args.some((arg) => arg.name === name) && !named.has(name)) named.set(name, value);
    else rest.push(word);
  }
  const open = args.filter(({ name }) => !named.has(name));
  open.forEach(({ name }, i) => {
    const value = i === open.length - 1 ? rest.slice(i).join(" ") : rest[i];
    if (value !== undefined && value !== "") named.set(name, value);
  });
  return Object.fromEntries(named);
}
