// One server through its life: it is connected, its lists are kept up to date, it is started again once when it dies, and it is ended.
import { join } from "node:path";
import type { Environment } from "../../util/environment.ts";
import type { McpServer } from "../../util/mcp-server.ts";
import { redact } from "../../util/redact.ts";
import { unlessAborted } from "../../util/unless-aborted.ts";
import { ToolError, toolError } from "../tool.ts";
import type { Connection, ListName, RequestLimits } from "./connection.ts";
import type { Fetch } from "./http.ts";
import { type ServerPrompt, type ServerTool, toPrompt, toTools } from "./lists.ts";
import { createServerLog } from "./server-log.ts";
import { type ServerTransport, SessionLost } from "./transport.ts";

/** What servers need of the program around them. */
export interface ServerHost {
  /** The working directory of the agent. */
  readonly cwd: string;
  /** What every child gets. */
  readonly env: Environment;
  /** Where what they say is kept. */
  readonly logFolder: string;
  readonly fetch: Fetch;
  /** Told of what only matters to whoever looks for a fault. */
  readonly debug: (text: string) => void;
  /** Told that the tools or prompts may be others now. */
  readonly onChange: () => void;
}

export interface Server {
  readonly config: McpServer;
  /** Resolves when it is connected for the first time, or that has failed. */
  readonly started: Promise<void>;
  /** Why it cannot be used now; undefined when it can, or is still starting. */
  failure(): string | undefined;
  tools(): readonly ServerTool[];
  prompts(): readonly ServerPrompt[];
  hasResources(): boolean;
  /** What it says of itself for the model. */
  instructions(): string | undefined;
  /** What is to be said of its tools, such as which are left out; each once. */
  notes(): readonly string[];
  /** Resolves when the lists that it said have changed are read again, or go on changing. */
  refreshed(): Promise<void>;
  /**
   * Asks it for something. A server that has died is started again for it, once until something has gone well. Throws a `ToolError` that says
   * what is wrong; what an aborted `signal` makes of it otherwise.
   */
  ask<Value>(
    work: (connection: Connection, limits: RequestLimits) => Promise<Value>,
    limits: Pick<RequestLimits, "signal" | "onProgress">,
  ): Promise<Value>;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** Between two readings of a list that goes on changing. */
const refreshPauseMs = 50;
const longestPauseMs = 5000;
/** After a pause longer than this nobody waits for the next reading: with some servers there is always one. */
const patientPauseMs = 200;

/** Begins to connect at once. */
export function createServer(config: McpServer, host: ServerHost): Server {
  let connection: Connection | undefined;
  let transport: ServerTransport | undefined;
  let failure: string | undefined;
  let tools: readonly ServerTool[] = [];
  let prompts: readonly ServerPrompt[] = [];
  let notes: readonly string[] = [];
  /** What it said of itself at its last start. */
  let hasResources = false;
  let instructions: string | undefined;
  /** Connections since something went well, the first one not counted. */
  let restarts = 0;
  let isClosed = false;
  let connecting: Promise<void> | undefined;
  /** The end of one that could not be used. */
  let leaving: Promise<void> | undefined;
  const stale = new Set<ListName>();
  let refreshing: Promise<void> | undefined;

  const limits: RequestLimits = { timeoutMs: config.startupMs };

  const log = createServerLog(join(host.logFolder, `mcp-${config.name.replace(/[^\w.-]/g, "_")}.log`));

  /** A way to the server, ready for messages; the code behind it is loaded only for those that need it. */
  async function openTransport(): Promise<ServerTransport> {
    const way = config.transport;
    if (!way) throw new Error(config.problem);
    if (way.kind === "http") return (await import("./http.ts")).createHttp(way, host.fetch, config.secrets);
    const { startStdio } = await import("./stdio.ts");
    const { cwd, env } = host;
    const onNoise = (line: string) =>
      host.debug(
        `The MCP server ${config.name} prints lines that are no JSON-RPC, which are passed over: ${line.slice(0, 200)}`,
      );
    return startStdio({ server: way, cwd, env, log, onNoise });
  }

  async function open(isWanted: () => boolean): Promise<void> {
    const opened = await openTransport();
    if (!isWanted()) return opened.close();
    transport = opened;
    const { connect } = await import("./connection.ts");
    const next = await connect({
      transport: opened,
      timeoutMs: config.startupMs,
      onListChanged(list) {
        stale.add(list);
        refreshIfStale();
      },
      onClose() {
        if (transport !== opened) return;
        connection = undefined;
        failure = describe(opened.reason() ?? "the connection was closed", opened);
      },
    });
    for (const list of ["tools", "prompts"] as const) await readList(list, next);
    if (!isWanted()) return;
    hasResources = next.has("resources");
    instructions = next.instructions;
    failure = undefined;
    connection = next;
    // What it said while its lists were read.
    refreshIfStale();
  }

  /** Connects within the time there is for it; what goes wrong becomes the `failure`. */
  async function start(): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`it did not answer within ${config.startupMs / 1000} s (startup_timeout)`)),
      config.startupMs,
    );
    let isOver = false;
    const opening = open(() => !isOver && !isClosed);
    try {
      await Promise.race([opening, late.promise]);
    } catch (error) {
      isOver = true;
      opening.catch(() => {});
      const { describeFailure, closedConnection } = await import("./connection.ts");
      const words = describeFailure(error, config.startupMs, "startup_timeout");
      const failed = transport;
      transport = undefined;
      failure = describe((words === closedConnection ? failed?.reason() : undefined) ?? words, failed);
      // It may take its time to go; nobody has to wait for that but the end of the program.
      leaving = failed?.close();
    } finally {
      clearTimeout(timer);
      if (!isClosed) host.onChange();
    }
  }

  /** The same, once at a time. */
  function startOnce(): Promise<void> {
    connecting ??= start().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  function describe(words: string, from: ServerTransport | undefined): string {
    const last = from?.lastWords() ?? "";
    return redact(last === "" ? words : `${words}; it said last:\n${last}`, config.secrets);
  }

  async function readList(list: ListName, from: Connection): Promise<void> {
    if (!from.has(list)) return;
    const items = await from.list(list, limits);
    if (list === "prompts") prompts = items.flatMap(toPrompt);
    else ({ tools, notes } = toTools(items, config, tools));
  }

  function refreshIfStale(): void {
    if (stale.size === 0 || !connection) return;
    if (refreshing) return;
    const settled = Promise.withResolvers<void>();
    refreshing = settled.promise;
    void refresh(settled.resolve).finally(() => {
      refreshing = undefined;
      settled.resolve();
      // What came when the last reading was done already.
      refreshIfStale();
    });
  }

  /**
   * Reads what is stale until nothing is, ever more slowly, so that a server cannot keep us busy with it. `giveUp` is called when it does not
   * seem to come to an end.
   */
  async function refresh(giveUp: () => void): Promise<void> {
    for (let pauseMs = refreshPauseMs; stale.size > 0 && connection; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      if (pauseMs > patientPauseMs) giveUp();
      const lists = [...stale];
      stale.clear();
      try {
        for (const list of lists) await readList(list, connection);
        host.onChange();
      } catch (error) {
        host.debug(`The MCP server ${config.name} did not give its changed list: ${(error as Error).message}`);
      }
      if (stale.size > 0) await Bun.sleep(pauseMs);
    }
  }

  const unavailable = () => toolError(`the MCP server ${config.name} is not available: ${failure ?? "it is closed"}`);

  async function connected(signal: AbortSignal | undefined): Promise<Connection> {
    if (connecting) await unlessAborted(connecting, signal);
    if (connection) return connection;
    if (isClosed || !transport || restarts > 0) throw unavailable();
    restarts++;
    host.debug(`The MCP server ${config.name} is started again: ${failure}`);
    await unlessAborted(startOnce(), signal);
    if (!connection) throw unavailable();
    return connection;
  }

  const started = startOnce();

  return {
    config,
    started,
    failure: () => failure,
    tools: () => tools,
    prompts: () => prompts,
    hasResources: () => hasResources,
    instructions: () => instructions,
    notes: () => notes,
    refreshed: async () => refreshing,
    async ask(work, { signal, onProgress }) {
      const own: RequestLimits = { signal, onProgress, timeoutMs: config.callMs };
      for (let attempt = 1; ; attempt++) {
        const current = await connected(signal);
        const way = transport;
        try {
          const value = await work(current, own);
          restarts = 0;
          return value;
        } catch (error) {
          if (signal?.aborted || error instanceof ToolError) throw error;
          if (error instanceof SessionLost && attempt === 1) {
            connection = undefined;
            failure = error.message;
            void way?.close();
            continue;
          }
          const { describeFailure, closedConnection } = await import("./connection.ts");
          const words = describeFailure(error, config.callMs, "call_timeout");
          if (words !== closedConnection)
            throw toolError(redact(`the MCP server ${config.name}: ${words}`, config.secrets));
          throw toolError(
            `the MCP server ${config.name} was lost during the call: ${describe(way?.reason() ?? words, way)}`,
          );
        }
      }
    },
    async close() {
      isClosed = true;
      const open = transport;
      connection = undefined;
      await Promise.all([open?.close(), connecting]);
      await Promise.all([transport?.close(), leaving]);
    },
  };
}
