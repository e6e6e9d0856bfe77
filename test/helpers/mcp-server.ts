// An MCP server over stdio that behaves as badly as its description says. A real program, so that what becomes of its processes can be seen:
// `bun test/helpers/mcp-server.ts '{"tools":[{"name":"x"}]}'`.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createMcpPeer, type McpServerSpec } from "./mcp-peer.ts";

export interface StdioServerSpec extends McpServerSpec {
  /** Lines on stdout before anything else. */
  readonly banner?: readonly string[];
  /** Lines on stdout before every message. */
  readonly chatter?: readonly string[];
  /** What stands behind each line on stdout: a line feed by default. */
  readonly lineEnd?: string;
  /** Lines on stderr at the start. */
  readonly stderr?: readonly string[];
  /** Writes so many bytes to stderr at the start, in long lines. */
  readonly floodsStderr?: number;
  /** Ends with this code at the start, behind `banner` and `stderr`. */
  readonly exitCode?: number;
  /** Goes on when stdin ends and at every signal that can be ignored. */
  readonly stubborn?: boolean;
  /** Reads nothing before this file exists. */
  readonly waitsFor?: string;
  /** A file that gets the process id of each life, one a line. */
  readonly pidFile?: string;
  /** A file that gets each message received, one a line. */
  readonly log?: string;
}

/** How a configuration starts such a server. */
export function mcpServer(spec: StdioServerSpec): { readonly command: string; readonly args: string[] } {
  return { command: process.execPath, args: [import.meta.path, JSON.stringify(spec)] };
}

/** The process ids in a `pidFile`, oldest first. */
export function pidsIn(file: string): number[] {
  try {
    return readFileSync(file, "utf8").trim().split("\n").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The messages in a `log`. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into them freely
export function messagesIn(file: string): any[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

async function serve(spec: StdioServerSpec): Promise<void> {
  if (spec.stubborn) {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
    setInterval(() => {}, 1000);
  }
  if (spec.pidFile !== undefined) appendFileSync(spec.pidFile, `${process.pid}\n`);
  const life = spec.pidFile === undefined ? 1 : pidsIn(spec.pidFile).length;
  const print = (line: string) => void process.stdout.write(`${line}${spec.lineEnd ?? "\n"}`);
  for (const line of spec.stderr ?? []) process.stderr.write(`${line}\n`);
  const flood = `${"x".repeat(9999)}\n`;
  for (let left = spec.floodsStderr ?? 0; left > 0; left -= flood.length) await Bun.write(Bun.stderr, flood);
  for (const line of spec.banner ?? []) print(line);
  if (spec.exitCode !== undefined) {
    process.exitCode = spec.exitCode;
    return;
  }
  const peer = createMcpPeer(spec, {
    life,
    die: () => process.exit(3),
    send(message) {
      for (const line of spec.chatter ?? []) print(line);
      print(JSON.stringify(message));
    },
  });
  while (spec.waitsFor !== undefined && !existsSync(spec.waitsFor)) await Bun.sleep(5);
  for await (const line of console) {
    if (line.trim() === "") continue;
    if (spec.log !== undefined) appendFileSync(spec.log, `${line}\n`);
    void peer.handle(JSON.parse(line));
  }
  if (!spec.stubborn) process.exit(0);
}

if (import.meta.main) await serve(JSON.parse(process.argv[2] ?? "{}"));
