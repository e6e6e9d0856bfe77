// `defineTool`: from one declaration derive validation, the permission question and the shown summary.
import * as z from "zod/mini";
import type { ToolAccess } from "../protocol/message.ts";
import { type Tool, type ToolContext, type ToolOutput, toolError } from "./tool.ts";

export interface ToolDefinition<Input extends z.ZodMiniType> {
  readonly name: string;
  readonly access: ToolAccess;
  /** What the model is told of the tool, Markdown. */
  readonly description: string;
  readonly input: Input;
  /** A few words for a status line. */
  readonly summarize: (input: z.infer<Input>) => string;
  readonly paths?: (input: z.infer<Input>) => readonly string[];
  /** Defaults to the summary. */
  readonly preview?: (input: z.infer<Input>, context: Pick<ToolContext, "cwd" | "files">) => string | Promise<string>;
  readonly run: (input: z.infer<Input>, context: ToolContext) => Promise<ToolOutput>;
}

/** A tool together with the text and JSON Schema that requests carry. */
export interface DefinedTool extends Tool {
  readonly description: string;
  readonly input: z.ZodMiniType;
}

export function defineTool<Input extends z.ZodMiniType>(definition: ToolDefinition<Input>): DefinedTool {
  const { name, access, description, input } = definition;
  return {
    name,
    access,
    description,
    input,
    prepare(args) {
      const parsed = z.safeParse(input, args, { reportInput: true });
      if (!parsed.success) throw toolError(`invalid arguments for ${name}: ${describeIssues(parsed.error)}`);
      const value = parsed.data;
      return {
        summary: definition.summarize(value),
        paths: definition.paths?.(value) ?? [],
        preview: async (context) => (definition.preview ?? definition.summarize)(value, context),
        run: (context) => definition.run(value, context),
      };
    },
  };
}

/** The issues of a failed check in words, each naming its field. */
function describeIssues(error: z.core.$ZodError): string {
  return error.issues.map(describeIssue).join("; ");
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const field = issue.path.length > 0 ? `'${issue.path.join(".")}'` : "arguments";
  switch (issue.code) {
    case "invalid_type":
      return `${field} must be ${article(issue.expected)}${issue.input === undefined ? " (it is missing)" : ""}`;
    case "unrecognized_keys":
      return `unknown field ${issue.keys.map((key) => `'${key}'`).join(", ")}`;
    case "too_small":
      if (issue.origin === "string") return `${field} must not be empty`;
      return `${field} must be at least ${issue.minimum}`;
    case "too_big":
      return `${field} must be at most ${issue.maximum}`;
    case "custom":
      return `${field} ${issue.message}`;
    default:
      return `${field} is invalid`;
  }
}

function article(type: string): string {
  if (type === "int") return "a whole number";
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
