// Tools and a gate for tests of the loop: each tool is a function, the gate refuses by name, and both record what they saw.
import type { ToolEnvironment } from "../../src/agent/execute-tool.ts";
import { createFileMemory } from "../../src/tools/file-memory.ts";
import type { Tool, ToolContext, ToolOutput } from "../../src/tools/tool.ts";

export type FakeTool = (args: Record<string, unknown>, context: ToolContext) => ToolOutput | Promise<ToolOutput>;

export interface FakeEnvironment {
  readonly environment: ToolEnvironment;
  /** The calls that ran, as `name {arguments}`, in order. */
  readonly ran: readonly string[];
  /** The errors that counted as bugs of ours. */
  readonly bugs: readonly unknown[];
}

/** `denied` are names of tools that the gate refuses. */
export function createFakeEnvironment(
  tools: Readonly<Record<string, FakeTool>>,
  denied: readonly string[] = [],
): FakeEnvironment {
  const ran: string[] = [];
  const bugs: unknown[] = [];
  const toTool = (name: string, run: FakeTool): Tool => ({
    name,
    access: "execute",
    prepare: (args) => ({
      summary: name,
      paths: [],
      preview: async () => name,
      async run(context) {
        ran.push(`${name} ${JSON.stringify(args)}`);
        return await run(args as Record<string, unknown>, context);
      },
    }),
  });
  const environment: ToolEnvironment = {
    cwd: "/",
    env: {},
    maxOutput: 1000,
    files: createFileMemory(),
    acceptsImages: true,
    realPath: async (path) => path,
    tools: {
      specs: Object.keys(tools).map((name) => ({ name, description: name, parameters: { type: "object" } })),
      load: async (name) => {
        const run = Object.hasOwn(tools, name) ? tools[name] : undefined;
        return run && toTool(name, run);
      },
    },
    gate: {
      check: async ({ toolName }) =>
        denied.includes(toolName)
          ? { allowed: false, by: "rule", reason: `${toolName} is not allowed` }
          : { allowed: true },
    },
    onBug: (error) => bugs.push(error),
  };
  return { environment, ran, bugs };
}
