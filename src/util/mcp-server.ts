/** An MCP server as it will be reached; variables in its texts are filled in. Times are milliseconds. */
export interface McpServer {
  readonly name: string;
  /** The file that defines it. */
  readonly source: string;
  readonly scope: "user" | "project" | "temporary";
  /** Undefined when `problem` says why it cannot be reached. */
  readonly transport: McpStdio | McpHttp | undefined;
  /** What is wrong with its configuration. */
  readonly problem: string | undefined;
  /** The only tools to offer, by their true names, where `*` stands for any characters; undefined offers all. */
  readonly tools: readonly string[] | undefined;
  readonly excludeTools: readonly string[];
  /** From the start of the connection to the list of tools. */
  readonly startupMs: number;
  /** Of a call without a sign of life. */
  readonly callMs: number;
  /** Nothing is begun without it. */
  readonly required: boolean;
  readonly enabled: boolean;
  /** Whether its word that a tool only reads is believed. */
  readonly trustAnnotations: boolean;
  /** Texts that are not to be shown: what came from the environment. */
  readonly secrets: readonly string[];
}

export interface McpStdio {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Beside what every child gets; keys too, since they are named here. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; undefined is the working directory of the agent. */
  readonly cwd: string | undefined;
}

export interface McpHttp {
  readonly kind: "http";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}
