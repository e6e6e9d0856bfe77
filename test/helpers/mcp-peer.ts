// The server's side of MCP, by hand and on purpose without the official library: what a server says is decided by its description, so that
// one can be made that breaks any promise. Knows messages only; the transports are mcp-server.ts (stdio) and mcp-http-server.ts.

type Json = Record<string, unknown>;

export interface McpToolSpec {
  readonly name: string;
  readonly description?: string;
  /** An object without properties by default. */
  readonly inputSchema?: Json;
  readonly outputSchema?: Json;
  readonly annotations?: Json;
  /** The whole answer to a call; by default a text with the tool's true name and its arguments: `NAME {"a":1}`. */
  readonly result?: Json;
  /** A file with the answer as JSON, for one that is too long for a command line. */
  readonly resultFile?: string;
  readonly act?: McpAct;
}

/** What a call does instead of answering with `result`, or before it. */
export type McpAct =
  /** Answers this JSON-RPC error. */
  | { readonly kind: "error"; readonly code: number; readonly message: string }
  /** Never answers. */
  | { readonly kind: "hang" }
  /** Reports progress so many times, each after so many milliseconds, and answers after as many more. */
  | { readonly kind: "progress"; readonly steps: number; readonly everyMs: number }
  /** Dies without an answer, but only in its first `times` lives (in all of them by default). */
  | { readonly kind: "die"; readonly times?: number }
  /** Answers with its environment as JSON text. */
  | { readonly kind: "env" }
  /** Asks the client this, without parameters, and answers when the client has. */
  | { readonly kind: "ask"; readonly methods: readonly string[] }
  /** Answers with its working directory. */
  | { readonly kind: "cwd" }
  /** Has these tools from now on, says so, then answers, `afterMs` later. */
  | { readonly kind: "become"; readonly tools: readonly McpToolSpec[]; readonly afterMs?: number };

export interface McpPromptSpec {
  readonly name: string;
  readonly description?: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
  /** The text of its one message; `{name}` stands for an argument. */
  readonly text: string;
}

export interface McpResourceSpec {
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly text?: string;
  /** Base64. */
  readonly blob?: string;
}

export interface McpServerSpec {
  readonly name?: string;
  readonly tools?: readonly McpToolSpec[];
  readonly resources?: readonly McpResourceSpec[];
  readonly prompts?: readonly McpPromptSpec[];
  readonly instructions?: string;
  /** Tools on a page of `tools/list`; all by default. */
  readonly pageSize?: number;
  /** Every page names the same next page. */
  readonly repeatsCursor?: boolean;
  /** Milliseconds until `initialize` is answered, or that it never is, or that it is refused. */
  readonly initialize?: number | "never" | "refuse";
  /** The answer to `initialize` claims this protocol version. */
  readonly protocolVersion?: string;
}

export interface McpWorld {
  send(message: Json): void;
  /** Ends the server at once. */
  die(): void;
  /** Which of its lives this is, from 1 on. */
  readonly life: number;
}

export interface McpPeer {
  /** Answers a request; takes note of anything else. */
  handle(message: Json): Promise<void>;
}

class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** A server's side of one connection. */
export function createMcpPeer(spec: McpServerSpec, world: McpWorld): McpPeer {
  let tools = spec.tools ?? [];
  /** What the client has been asked, by the id of the question. */
  const asked = new Map<unknown, () => void>();
  const notify = (method: string, params: Json = {}) => world.send({ jsonrpc: "2.0", method, params });

  async function initialize({ protocolVersion }: Json): Promise<Json> {
    if (spec.initialize === "never") await silence();
    if (spec.initialize === "refuse") throw new Refusal(-32603, "not today");
    if (typeof spec.initialize === "number") await Bun.sleep(spec.initialize);
    const { instructions } = spec;
    return {
      protocolVersion: spec.protocolVersion ?? protocolVersion,
      capabilities: {
        tools: { listChanged: true },
        ...(spec.resources ? { resources: {} } : {}),
        ...(spec.prompts ? { prompts: {} } : {}),
      },
      serverInfo: { name: spec.name ?? "scripted", version: "1.0.0" },
      ...(instructions === undefined ? {} : { instructions }),
    };
  }

  function listTools({ cursor }: Json): Json {
    const start = Number(cursor ?? 0);
    const size = spec.pageSize ?? Math.max(tools.length, 1);
    const page = tools.slice(start, start + size).map(({ result: _, resultFile: __, act: ___, ...shown }) => ({
      inputSchema: { type: "object" },
      ...shown,
    }));
    const next = spec.repeatsCursor ? "0" : start + size < tools.length ? String(start + size) : undefined;
    return { tools: page, ...(next === undefined ? {} : { nextCursor: next }) };
  }

  async function callTool(params: Json): Promise<Json> {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) throw new Refusal(-32602, `Unknown tool: ${params.name}`);
    const { act } = tool;
    switch (act?.kind) {
      case "error":
        throw new Refusal(act.code, act.message);
      case "hang":
        await silence();
        break;
      case "progress": {
        const { progressToken } = (params._meta ?? {}) as Json;
        for (let progress = 1; progress <= act.steps; progress++) {
          await Bun.sleep(act.everyMs);
          if (progressToken === undefined) continue;
          notify("notifications/progress", { progressToken, progress, total: act.steps, message: `step ${progress}` });
        }
        // What comes together with the answer is too late for the official client.
        await Bun.sleep(act.everyMs);
        break;
      }
      case "die":
        if (world.life <= (act.times ?? Number.POSITIVE_INFINITY)) {
          world.die();
          await silence();
        }
        break;
      case "ask":
        await Promise.all(act.methods.map(ask));
        break;
      case "env":
        return text(JSON.stringify(process.env));
      case "cwd":
        return text(process.cwd());
      case "become":
        tools = act.tools;
        notify("notifications/tools/list_changed");
        if (act.afterMs !== undefined) await Bun.sleep(act.afterMs);
        break;
    }
    if (tool.resultFile !== undefined) return (await Bun.file(tool.resultFile).json()) as Json;
    return tool.result ?? text(`${tool.name} ${JSON.stringify(params.arguments ?? {})}`);
  }

  function ask(method: string): Promise<void> {
    return new Promise((resolve) => {
      const id = `ask ${method}`;
      asked.set(id, resolve);
      world.send({ jsonrpc: "2.0", id, method });
    });
  }

  function readResource({ uri }: Json): Json {
    const found = spec.resources?.find((resource) => resource.uri === uri);
    if (!found) throw new Refusal(-32002, "Resource not found");
    const { name: _, ...contents } = found;
    return { contents: [contents] };
  }

  function getPrompt(params: Json): Json {
    const found = spec.prompts?.find(({ name }) => name === params.name);
    if (!found) throw new Refusal(-32602, `Unknown prompt: ${params.name}`);
    const given = (params.arguments ?? {}) as Record<string, string>;
    const words = found.text.replace(/\{(\w+)\}/g, (_, name: string) => given[name] ?? "");
    return { messages: [{ role: "user", content: { type: "text", text: words } }] };
  }

  const handlers: Record<string, (params: Json) => Json | Promise<Json>> = {
    initialize,
    ping: () => ({}),
    "tools/list": listTools,
    "tools/call": callTool,
    "resources/list": () => ({ resources: (spec.resources ?? []).map(({ text: _, blob: __, ...shown }) => shown) }),
    "resources/templates/list": () => ({ resourceTemplates: [] }),
    "resources/read": readResource,
    "prompts/list": () => ({ prompts: (spec.prompts ?? []).map(({ text: _, ...shown }) => shown) }),
    "prompts/get": getPrompt,
  };

  return {
    async handle({ id, method, params }) {
      if (method === undefined) asked.get(id)?.();
      if (id === undefined || method === undefined) return;
      try {
        const handler = handlers[String(method)];
        if (!handler) throw new Refusal(-32601, `Method not found: ${method}`);
        world.send({ jsonrpc: "2.0", id, result: await handler((params ?? {}) as Json) });
      } catch (error) {
        const code = error instanceof Refusal ? error.code : -32603;
        world.send({ jsonrpc: "2.0", id, error: { code, message: (error as Error).message } });
      }
    },
  };
}

function text(words: string): Json {
  return { content: [{ type: "text", text: words }] };
}

/** Never resolves. */
function silence(): Promise<never> {
  return new Promise(() => {});
}
