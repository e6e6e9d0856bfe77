// A line of stdin → a command whose fields are as they must be, or the one error that says what is wrong with it. Pure.
import type * as z from "zod/mini";
import { type CommandId, type RpcCommandName, type RpcParams, rpcCommands } from "../../protocol/rpc.ts";
import { UiResponse } from "../../protocol/ui.ts";
import { closest } from "../../util/closest.ts";

export type ParsedLine =
  | { [Name in RpcCommandName]: ParsedCommand<Name> }[RpcCommandName]
  | { readonly kind: "answer"; readonly answer: UiResponse }
  | { readonly kind: "blank" }
  | { readonly kind: "error"; readonly id: CommandId | undefined; readonly command: string; readonly error: string };

export interface ParsedCommand<Name extends RpcCommandName> {
  readonly kind: "command";
  readonly name: Name;
  readonly id: CommandId | undefined;
  readonly params: RpcParams<Name>;
}

/** Of a command that nobody knows, no more is repeated. */
const longestName = 100;
/** The command that an answer names where the line is none. */
const noCommand = "parse";

export function parseLine(bytes: Uint8Array): ParsedLine {
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.trim() === "") return { kind: "blank" };
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "the line is not valid UTF-8";
    return { kind: "error", id: undefined, command: noCommand, error: `Failed to parse command: ${reason}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const kind = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
    return { kind: "error", id: undefined, command: noCommand, error: `A command must be a JSON object, not ${kind}` };
  }
  return parseCommand(value as Record<string, unknown>);
}

function parseCommand(value: Record<string, unknown>): ParsedLine {
  const { type, id: given } = value;
  const id = typeof given === "string" || (typeof given === "number" && Number.isFinite(given)) ? given : undefined;
  if (typeof type !== "string") {
    return {
      kind: "error",
      id,
      command: noCommand,
      error: `'type' ${type === undefined ? "is missing" : "must be a text"}`,
    };
  }
  const command = type.slice(0, longestName);
  const fail = (error: string): ParsedLine => ({ kind: "error", id, command, error });
  if (type === "extension_ui_response") {
    const answer = UiResponse.safeParse(value);
    return answer.success ? { kind: "answer", answer: answer.data } : fail(describe(answer.error.issues[0], value));
  }
  if (!Object.hasOwn(rpcCommands, type)) {
    const near = closest(command, Object.keys(rpcCommands));
    return fail(`Unknown command: ${command}${near === undefined ? "" : `. Did you mean ${near}?`}`);
  }
  if (given !== undefined && id === undefined) return fail("'id' must be a text");
  const name = type as RpcCommandName;
  const params = rpcCommands[name].params.safeParse(value);
  if (!params.success) return fail(describe(params.error.issues[0], value));
  return { kind: "command", name, id, params: params.data } as ParsedLine;
}

const article: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

function describe(issue: z.core.$ZodIssue | undefined, value: unknown): string {
  if (!issue) return "The command is invalid";
  const field = `'${issue.path.join(".")}'`;
  const found = issue.path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)?.[key], value);
  if (found === undefined) return `${field} is missing`;
  if (issue.code === "invalid_type") return `${field} must be ${article[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value") {
    const options = issue.values.map((option) => JSON.stringify(option)).join(", ");
    return `${field} must be ${issue.values.length > 1 ? "one of " : ""}${options}, not ${shown(found)}`;
  }
  return `${field} is invalid`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
