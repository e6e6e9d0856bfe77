// Whether a record has the fields that its type promises; for those who ask, as it costs far more than decoding.
import type * as z from "zod/mini";
import { Entry, SessionHeader } from "./entry.ts";
import { AgentEvent } from "./event.ts";
import { EarlierSettled, NamelessFailure, PiEvent } from "./record.ts";
import { BashExecutionUpdate, type RpcCommandName, RpcResponse, rpcCommands, type TreeNode } from "./rpc.ts";
import { UiDialog, UiNotice } from "./ui.ts";

type Fields = Readonly<Record<string, unknown>>;
type Issue = z.core.$ZodIssue;

/**
 * What is wrong with a line of an agent's stdout, in a few words that name the first field; undefined when nothing is. What is of an
 * unknown type, anywhere in it, is not wrong.
 */
export function problemOf(record: object): string | undefined {
  const fields = record as Fields;
  if (fields.type === "response") return problemOfResponse(fields);
  const schema = schemaOf(fields);
  return schema && problem(schema, record);
}

function schemaOf({ type, method }: Fields): z.ZodMiniType | undefined {
  switch (type) {
    case "session":
      return SessionHeader;
    case "agent_settled":
      return EarlierSettled;
    case "bash_execution_update":
      return BashExecutionUpdate;
    case "extension_ui_request":
      return dialogs.has(method) ? UiDialog : UiNotice;
    default:
      return piEvents.has(type) ? PiEvent : AgentEvent;
  }
}

const dialogs: ReadonlySet<unknown> = new Set(["confirm", "select", "input", "editor"] satisfies UiDialog["method"][]);
const piEvents: ReadonlySet<unknown> = new Set([
  "summarization_retry_scheduled",
  "summarization_retry_attempt_start",
  "summarization_retry_finished",
  "extension_error",
] satisfies PiEvent["type"][]);

function problemOfResponse(response: Fields): string | undefined {
  const wrong = problem(response.success === true ? RpcResponse : NamelessFailure, response);
  if (wrong !== undefined || response.success !== true || !Object.hasOwn(rpcCommands, String(response.command))) {
    return wrong;
  }
  const name = response.command as RpcCommandName;
  // Told since pi 0.99.0.
  if (response.data === undefined && rpcCommands[name].result === rpcCommands.prompt.result) return undefined;
  if (name === "get_tree") return problemOfTree(response.data);
  return problem(rpcCommands[name].result, response.data, "data");
}

/** A tree is as deep as its session is long, too deep for a schema. */
function problemOfTree(data: unknown): string | undefined {
  const { tree } = (data ?? {}) as { tree?: readonly TreeNode[] };
  if (!Array.isArray(tree)) return "'data.tree' is no list";
  const open: TreeNode[] = [...tree];
  for (let node = open.pop(); node; node = open.pop()) {
    const wrong = problem(Entry, node.entry, "entry");
    if (wrong !== undefined) return wrong;
    if (!Array.isArray(node.children)) return "'children' is no list";
    for (const child of node.children) open.push(child);
  }
  return undefined;
}

function problem(schema: z.ZodMiniType, value: unknown, field?: string): string | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return undefined;
  const wrong = parsed.error.issues.map(wrongIn).find((issue) => issue !== undefined);
  if (!wrong) return undefined;
  const path = [...(field === undefined ? [] : [field]), ...wrong.path].join(".");
  return `'${path}' ${wrong.code === "invalid_type" ? `must be of type ${wrong.expected}` : "has a value that is not possible"}`;
}

const tags: ReadonlySet<unknown> = new Set(["type", "role", "method"]);

/** Undefined for an issue that only says that something is of an unknown type; of several possibilities the one that comes nearest. */
function wrongIn(issue: Issue): Issue | undefined {
  const isTag = tags.has(issue.path.at(-1));
  if (isTag && issue.code !== "invalid_type") return undefined;
  if (issue.code !== "invalid_union") return issue;
  const possibilities = issue.errors.map((issues) => issues.map(wrongIn).filter((inner) => inner !== undefined));
  if (possibilities.some((issues) => issues.length === 0)) return undefined;
  const nearest = possibilities.at(-1)?.[0];
  if (!nearest) return issue;
  return { ...nearest, path: [...issue.path, ...nearest.path] } as Issue;
}
