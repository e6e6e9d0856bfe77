// Calls a tool as the executor does, without a gate; an error for the model comes back as its result.
import { createFileMemory, type FileMemory } from "../../src/tools/file-memory.ts";
import { type Tool, type ToolContext, ToolError, type ToolOutput } from "../../src/tools/tool.ts";

export type CallOptions = Partial<ToolContext>;

/** Runs one call in `cwd`. */
export async function callTool(tool: Tool, cwd: string, args: unknown, options: CallOptions = {}): Promise<ToolOutput> {
  try {
    return await tool.prepare(args).run({
      cwd,
      env: process.env,
      signal: new AbortController().signal,
      maxOutput: 100_000,
      onUpdate: () => {},
      files: createFileMemory(),
      acceptsImages: true,
      ...options,
    });
  } catch (error) {
    return failure(error);
  }
}

/** The text of a call's result. */
export async function callText(tool: Tool, cwd: string, args: unknown, options?: CallOptions): Promise<string> {
  return (await callTool(tool, cwd, args, options)).text;
}

/** What a person is shown before the call may run. */
export async function previewText(
  tool: Tool,
  cwd: string,
  args: unknown,
  files: FileMemory = createFileMemory(),
): Promise<string> {
  try {
    return await tool.prepare(args).preview({ cwd, files });
  } catch (error) {
    return failure(error).text;
  }
}

function failure(error: unknown): ToolOutput {
  if (error instanceof ToolError) return { text: `Error: ${error.message}`, isError: true };
  throw error;
}
