// One connection to a server: the library's client, with lists read to their end and answers taken tolerantly. Loaded with the first server.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  ErrorCode,
  McpError,
  PromptListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod/mini";
import { version } from "../../util/version.ts";
import type { CallResult } from "./result.ts";
import type { ServerTransport } from "./transport.ts";

type Json = Record<string, unknown>;

/** Which lists a server says have changed. */
export type ListName = "tools" | "prompts";

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface RequestLimits {
  readonly signal?: AbortSignal | undefined;
  /** Without an answer, or a sign of progress. */
  readonly timeoutMs: number;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface Connection {
  /** The server's own name and version. */
  readonly server: { readonly name: string; readonly version: string } | undefined;
  readonly instructions: string | undefined;
  has(capability: "tools" | "prompts" | "resources"): boolean;
  /** All pages of a list. */
  list(what: ListName | "resources" | "resourceTemplates", limits: RequestLimits): Promise<Json[]>;
  call(name: string, args: Json, limits: RequestLimits): Promise<CallResult>;
  readResource(uri: string, limits: RequestLimits): Promise<Json[]>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, limits: RequestLimits): Promise<Json[]>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly transport: ServerTransport;
  readonly timeoutMs: number;
  readonly onListChanged: (list: ListName) => void;
  readonly onClose: () => void;
}

const methods = {
  tools: "tools/list",
  prompts: "prompts/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
} as const;

const objects = z.array(z.record(z.string(), z.unknown()));
const Page = z.looseObject({ nextCursor: z.optional(z.nullable(z.string())) });
const ToolResult = z.looseObject({
  content: z.optional(z.array(z.unknown())),
  structuredContent: z.optional(z.unknown()),
  isError: z.optional(z.boolean()),
});
const Contents = z.looseObject({ contents: objects });
const Messages = z.looseObject({ messages: objects });

/** Pages and items of one list; a server that never comes to an end is stopped here. */
const maxPages = 1000;
const maxItems = 10_000;

/** Connects and introduces us. Rejects with what the library or the transport says; see `describeFailure`. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const client = new Client(
    { name: "pi-ts", version },
    // Answers that are not as announced are the model's to judge, so nothing compiles the schemas of all tools.
    {
      capabilities: {},
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  );
  client.onclose = options.onClose;
  // What the other side sends besides is no reason to fail.
  client.onerror = () => {};
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => options.onListChanged("tools"));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => options.onListChanged("prompts"));
  await client.connect(options.transport, { timeout: options.timeoutMs });

  /** The library keeps its listener on a signal for good, so each request gets a signal of its own. */
  async function request<Schema extends z.ZodMiniType>(
    method: string,
    params: Json,
    schema: Schema,
    { signal, timeoutMs, onProgress }: RequestLimits,
  ): Promise<z.infer<Schema>> {
    const own = new AbortController();
    const abort = () => own.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      signal?.throwIfAborted();
      const result = await client.request({ method, params }, schema, {
        signal: own.signal,
        timeout: timeoutMs,
        ...(onProgress ? { onprogress: onProgress, resetTimeoutOnProgress: true } : {}),
      });
      return result as z.infer<Schema>;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  const capabilities = client.getServerCapabilities() ?? {};
  return {
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    has: (capability) => capabilities[capability] !== undefined,
    async list(what, limits) {
      const items: Json[] = [];
      const cursors = new Set<string>();
      let cursor: string | undefined;
      for (let page = 0; page < maxPages && items.length < maxItems; page++) {
        const result = await request(methods[what], cursor === undefined ? {} : { cursor }, Page, limits);
        const found = result[what];
        if (!Array.isArray(found)) throw new Error(`its answer to ${methods[what]} has no list`);
        items.push(...found.filter((item) => typeof item === "object" && item !== null));
        cursor = result.nextCursor || undefined;
        // A page that was there before would be there again for ever.
        if (cursor === undefined || cursors.has(cursor)) break;
        cursors.add(cursor);
      }
      return items.slice(0, maxItems);
    },
    call: (name, args, limits) => request("tools/call", { name, arguments: args }, ToolResult, limits),
    readResource: async (uri, limits) => (await request("resources/read", { uri }, Contents, limits)).contents,
    getPrompt: async (name, args, limits) =>
      (await request("prompts/get", { name, arguments: args }, Messages, limits)).messages,
    close: () => options.transport.close(),
  };
}

/** What went wrong, in words that go behind "the MCP server x: ". */
export function describeFailure(error: unknown, timeoutMs: number, setting: string): string {
  if (error instanceof z.core.$ZodError) return "its answer is not what the protocol says";
  if (error instanceof McpError) {
    if (error.code === ErrorCode.RequestTimeout) return `it did not answer within ${timeoutMs / 1000} s (${setting})`;
    if (error.code === ErrorCode.ConnectionClosed && /Connection closed$/.test(error.message)) return closedConnection;
    return error.message.replace(/^MCP error -?\d+: /, "");
  }
  return error instanceof Error ? error.message : String(error);
}

export const closedConnection = "the connection was closed";
