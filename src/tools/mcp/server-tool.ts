// A server's tool as one of ours: the arguments go to the server, which checks them itself, and its answer becomes a result.
import { now } from "../../util/clock.ts";
import { oneLine } from "../../util/truncate.ts";
import { type Tool, type ToolContext, toolError } from "../tool.ts";
import type { Progress } from "./connection.ts";
import type { ServerTool } from "./lists.ts";
import { toToolOutput } from "./result.ts";
import type { Server } from "./server.ts";

const longestSummary = 200;

/** `offeredAs` is the name that the model knows. */
export function toTool(offeredAs: string, { name, reads, toArguments }: ServerTool, server: Server): Tool {
  const whose = `${name} of the MCP server ${server.config.name}`;
  return {
    name: offeredAs,
    // What it does is for the server to know; only a trusted word that it reads spares the question.
    access: reads ? "read" : "execute",
    prepare(args) {
      if (typeof args !== "object" || args === null || Array.isArray(args)) {
        throw toolError(`invalid arguments for ${offeredAs}: they must be an object`);
      }
      const given = toArguments(args as Record<string, unknown>);
      return {
        // All of it is in the preview.
        summary: Object.keys(given).length > 0 ? oneLine(JSON.stringify(given), longestSummary) : "",
        paths: [],
        preview: async () => `${whose}\n${JSON.stringify(given, null, 2)}`,
        async run(context) {
          const onProgress = tellProgress(context.onUpdate);
          const { signal } = context;
          const result = await server.ask((connection, limits) => connection.call(name, given, limits), {
            signal,
            onProgress,
          });
          return toToolOutput(result, context);
        },
      };
    },
  };
}

const updateMs = 100;

/** The latest sign of progress, about ten times a second at most. */
function tellProgress(onUpdate: ToolContext["onUpdate"]): (progress: Progress) => void {
  let last = -Infinity;
  return ({ progress, total, message }) => {
    const isEnd = total !== undefined && progress >= total;
    if (!isEnd && now() - last < updateMs) return;
    last = now();
    const share = total === undefined ? `${progress}` : `${progress}/${total}`;
    onUpdate({ content: [{ type: "text", text: message ? `${share} ${message}` : share }] });
  };
}
