// The REPL of the compiled binary in a pty, talking to a replay server.
import { type Pty, type PtyOptions, type ShellPty, startPty, startShellPty } from "../helpers/pty.ts";
import type { ReplayServer } from "../helpers/replay-server.ts";

export interface Repl extends Pty {
  /** Types a line and Enter. */
  enter(text: string): void;
  /** Waits for an empty edit line, ready for input. */
  ready(): Promise<void>;
  /** Waits until the last row of the screen is `row`. */
  lastRow(row: string): Promise<void>;
}

export interface ReplSettings extends PtyOptions {
  readonly args?: readonly string[];
}

const settings = (server: ReplayServer, options: PtyOptions): PtyOptions => ({
  ...options,
  env: { PI_PROVIDER: "openai", PI_BASE_URL: server.url, OPENAI_API_KEY: "test-key", ...options.env },
});

export async function openRepl(server: ReplayServer, options: ReplSettings = {}): Promise<Repl> {
  const pty = await startPty(options.args ?? [], settings(server, options));
  return Object.assign(pty, {
    enter: (text: string) => pty.write(`${text}\r`),
    ready: () => pty.waitFor((text) => /(^|\n|\r)> \r$/.test(text)),
    lastRow: (row: string) => pty.waitFor(() => pty.screen().at(-1) === row),
  });
}

/** The same, started by a shell, for what a shell sees when it ends or stops. */
export async function openShell(server: ReplayServer, options: PtyOptions = {}): Promise<ShellPty> {
  return startShellPty(settings(server, options));
}

/** The roles and texts of a recorded request's messages, without the system prompt. */
export function conversation(body: { messages: { role: string; content: unknown }[] }): string[] {
  return body.messages
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) => `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`);
}
